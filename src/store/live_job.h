// What an embedded store keeps in memory of a live job: enough to guard, index and count it. The
// rest of the record stays where the store keeps records. It is small, because a million jobs may
// wait: the id stands behind it in the same allocation.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <set>
#include <string>
#include <string_view>
#include <type_traits>

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

// Never 0, which stands for no text. For memory only: another build may make others.
inline uint32_t hash_of(std::string_view text) {
  auto hash = static_cast<uint32_t>(std::hash<std::string_view>{}(text));
  return hash == 0 ? 1 : hash;
}

struct WaitClass;
struct QueueJobs;
struct WorkerJobs;

struct LiveJob {
  Link in_all;
  Link in_state;
  Link in_tenant;
  Link in_queue;
  Link in_worker;
  Link of_trace;
  LiveJob* next_of_id = nullptr;

  QueueJobs* queue = nullptr;    // of its tenant and topic
  WorkerJobs* worker = nullptr;  // while it holds a slot there
  WaitClass* wait_class = nullptr;

  Revision revision;
  // Of the record, in microseconds; 0 means none.
  int64_t updated_at = 0;
  int64_t deadline = 0;
  int64_t due = 0;
  int64_t since = 0;  // its place in its class; of one that waits in none: its dispatch
  // By the store's monotonic clock: when deadline and due time come, since when its dispatch is not
  // known to be published, and, while it is claimed, until when.
  int64_t deadline_at = 0;
  int64_t due_at = 0;
  int64_t marked_at = 0;
  int64_t claimed_until = 0;

  uint32_t id_hash = 0;
  uint32_t trace_hash = 0;  // 0: it has no trace
  uint32_t team_hash = 0;
  job::State state = job::State::kPending;
  bool tenant_slot = false;
  bool publish_pending = false;
  uint16_t id_size = 0;

  std::string_view id() const;

  static LiveJob* make(std::string_view id);
  static void destroy(LiveJob* job);
};

// The id begins where the last member ends, and so uses what would be padding.
static_assert(std::is_standard_layout_v<LiveJob>);
inline constexpr size_t kIdOffset = offsetof(LiveJob, id_size) + sizeof(LiveJob::id_size);
static_assert(kIdOffset + 36 <= 256, "a million may wait; with a UUID it fits 256 bytes");

inline std::string_view LiveJob::id() const {
  return {reinterpret_cast<const char*>(this) + kIdOffset, id_size};
}

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
