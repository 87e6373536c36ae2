// The load of the crash tests: lives of jobs in which every change is a function of the job's
// number and its revision, so that what is found after a crash can be told to be right to the last
// byte.
//
//   revision 1  admitted: request, timer, idempotency key, trace
//   revision 2  dispatched: worker's and tenant's slot, message in the outbox
//   revision 3  running
//   revision 4  ended: message consumed, timer done; every third fails, with a dead letter
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
  Task<void> go_on(uint64_t count);
  Task<void> keep_going();
  Task<void> live(uint64_t number, uint64_t from_revision, Sequence message);

  store::Store& store_;
  Acknowledged acknowledged_;
  uint64_t next_ = 0;
  Nursery nursery_;
};

}  // namespace fairlead::crash
