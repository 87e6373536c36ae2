// The load of the crash tests: lives of jobs in which every change is a function of the job's
// number and its revision, so that what is found after a crash can be told to be right to the last
// byte.
//
//               a message is queued for it and its blob is put
//   revision 1  admitted: request, timer, idempotency key, trace, mark of a bus' message
//   revision 2  dispatched: worker's and tenant's slot, message in the outbox, queued one consumed
//               it is counted
//   revision 3  running: to be on disk when anything else is
//               its blob is erased
//   revision 4  ended: message consumed, timer done; every third fails, with a dead letter
//
// What stands between two revisions is acknowledged before the later one is tried.
#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "runtime/nursery.h"
#include "store/store.h"

namespace fairlead::crash {

inline constexpr uint64_t kLastRevision = 4;
inline constexpr uint64_t kWorkers = 7;

JobId job_id(uint64_t number);
std::string request_of(uint64_t number);
std::string timer_of(uint64_t number);
// Four jobs share a trace; every fifth has an idempotency key, the others none.
TraceId trace_of(uint64_t number);
std::string key_of(uint64_t number);
std::string mark_of(uint64_t number);
std::string blob_key_of(uint64_t number);
std::string blob_of(uint64_t number);
// All lives that got so far are counted here, once for each process that tried it.
inline constexpr const char* kCounter = "lives";
// Whether the job ends with a dead letter.
bool fails(uint64_t number);
job::Record record_of(uint64_t number, uint64_t revision);

// The number in an id or a message of these lives.
uint64_t number_of(std::string_view text);

class Lives {
 public:
  // Tells of every acknowledged change, before the next one of that job is tried.
  using Acknowledged = std::function<void(uint64_t number, uint64_t revision)>;

  Lives(store::Store& store, Acknowledged acknowledged)
      : store_(store), acknowledged_(std::move(acknowledged)) {}

  // Goes on with the lives that stand unfinished in the store, then keeps `count` of them going,
  // new ones from `next` on.
  void start(uint64_t count, uint64_t next);

 private:
  // What of a life lies in the store as a message.
  struct Messages {
    Sequence queued;
    Sequence dispatched;
  };

  static store::Change change_to(uint64_t number, uint64_t revision, const Messages& messages);
  Task<void> go_on(uint64_t count);
  Task<void> keep_going();
  Task<void> live(uint64_t number, uint64_t from_revision, Messages messages);
  // What comes before a revision. False: it was pushed back.
  Task<bool> prepare(uint64_t number, uint64_t revision, Messages& messages);

  store::Store& store_;
  Acknowledged acknowledged_;
  uint64_t next_ = 0;
  Nursery nursery_;
};

}  // namespace fairlead::crash
