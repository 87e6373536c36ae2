// What an embedded store keeps in memory of a live job: enough to guard, index and count it. The
// rest of the record stays where the store keeps records. It is small, because a million jobs may
// wait: the id stands in the same allocation behind it.
#pragma once

#include <cstdint>
#include <set>
#include <string>
#include <string_view>

#include "base/ids.h"
#include "base/time.h"
#include "job/state.h"

namespace fairlead::store {

struct LiveJob;

// A place in one doubly linked list.
struct Link {
  LiveJob* before = nullptr;
  LiveJob* after = nullptr;
};

// A list of live jobs through one of their links, in the order of insertion.
template <Link LiveJob::* kLink>
class JobList {
 public:
  LiveJob* first() const { return first_; }
  LiveJob* last() const { return last_; }
  bool empty() const { return !first_; }
  size_t size() const { return size_; }

  void push_back(LiveJob* job);
  void remove(LiveJob* job);

 private:
  LiveJob* first_ = nullptr;
  LiveJob* last_ = nullptr;
  size_t size_ = 0;
};

struct WaitClass;
struct TenantJobs;
struct WorkerJobs;

struct LiveJob {
  Link in_all;
  Link in_state;
  Link in_tenant;
  Link in_worker;
  Link of_id;
  Link of_trace;

  TenantJobs* tenant = nullptr;
  WorkerJobs* worker = nullptr;  // while it holds a slot there
  WaitClass* wait_class = nullptr;

  Revision revision;
  int64_t updated_at = 0;  // microseconds, like all times here; 0 means none
  int64_t deadline = 0;
  int64_t due = 0;
  int64_t since = 0;          // its place in its class; of one that waits in none: its dispatch
  int64_t claimed_until = 0;  // while claimed; by the store's monotonic clock

  uint32_t id_hash = 0;
  uint32_t trace_hash = 0;  // 0: it has no trace
  job::State state = job::State::kPending;
  bool tenant_slot = false;
  bool publish_pending = false;
  uint16_t id_size = 0;

  std::string_view id() const { return {reinterpret_cast<const char*>(this + 1), id_size}; }

  static LiveJob* make(std::string_view id);
  static void destroy(LiveJob* job);
};

static_assert(sizeof(LiveJob) <= 184, "a million of them may wait");

// Earliest time first, then by id, so that the order depends on nothing else.
template <int64_t LiveJob::* kTime>
struct ByTime {
  bool operator()(const LiveJob* a, const LiveJob* b) const {
    if (a->*kTime != b->*kTime) return a->*kTime < b->*kTime;
    return a->id() < b->id();
  }
};

struct WaitClass {
  std::string name;
  std::set<LiveJob*, ByTime<&LiveJob::since>> waiting;
  size_t claimed = 0;
  // Somebody had room for the class while all of its jobs were claimed.
  bool missed = false;
  MonotonicTime next_try;
  WallTime dispatched_at;
};

template <Link LiveJob::* kLink>
void JobList<kLink>::push_back(LiveJob* job) {
  (job->*kLink) = {last_, nullptr};
  (last_ ? (last_->*kLink).after : first_) = job;
  last_ = job;
  ++size_;
}

template <Link LiveJob::* kLink>
void JobList<kLink>::remove(LiveJob* job) {
  Link& link = job->*kLink;
  (link.before ? (link.before->*kLink).after : first_) = link.after;
  (link.after ? (link.after->*kLink).before : last_) = link.before;
  link = {};
  --size_;
}

}  // namespace fairlead::store
