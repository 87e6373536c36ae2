// What the store asks of Redis in one step: each is a script that Redis runs without interruption.
//
// Times come from the caller; only the sign of life asks Redis for its own, which callers then go
// by. Arguments are taken in order, as the store adds them. README.md says which keys they keep.
#pragma once

#include <string>
#include <vector>

#include "store/redis/redis_options.h"

namespace fairlead::store::redis {

enum class Script : size_t {
  kIdentify,
  kLoad,
  kApply,
  kScan,
  kMembers,
  kRecords,
  kClaim,
  kUnclaim,
  kWaiting,
  kView,
  kQueues,
  kAcquire,
  kRenew,
  kRelease,
  kSignOfLife,
  kEnqueue,
  kForget,
  kOrphans,
  kQueued,
  kDueTimers,
  kPutDeadLetter,
  kDeadLetters,
  kEraseDeadLetter,
  kBlob,
  kSwapBlob,
  kPutWorkers,
  kBreaker,
  kRetire,
};

// In the order of the names.
std::vector<std::string> script_texts(const RedisOptions& options);

// The parts that scripts are made of.
extern const char kBasePart[];    // names of keys, arguments
extern const char kLeasePart[];   // taking a lease
extern const char kClassPart[];   // entering and leaving a waiting class
extern const char kClaimPart[];   // claims out of waiting classes
extern const char kJobPart[];     // looking at a job, and at what Go services did to it
extern const char kLetterPart[];  // keeping a dead letter
extern const char kApplyScript[];
extern const char kApplyMoreScript[];
extern const char kScanScript[];
extern const char kRetireScript[];

}  // namespace fairlead::store::redis
