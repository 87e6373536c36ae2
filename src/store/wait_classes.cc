#include "store/wait_classes.h"

#include <limits>
#include <utility>

#include "base/check.h"
#include "base/limits.h"
#include "store/live_job.h"

namespace fairlead::store {

bool WaitClasses::ByClaim::operator()(const LiveJob* a, const LiveJob* b) const {
  return ByTime<&LiveJob::claimed_until>{}(a, b);
}

bool WaitClasses::ByNextTry::operator()(const WaitClass* a, const WaitClass* b) const {
  if (a->next_try != b->next_try) return a->next_try < b->next_try;
  return a->name < b->name;
}

WaitClasses::~WaitClasses() = default;

WaitClass* WaitClasses::class_of(std::string_view name, MonotonicTime first_try) {
  auto found = classes_.find(name);
  if (found == classes_.end()) {
    found = classes_.emplace(std::string(name), WaitClass{}).first;
    found->second.name = found->first;
    found->second.next_try = first_try;
    found->second.dispatched_at = opened_;
    by_next_try_.insert(&found->second);
  }
  return &found->second;
}

void WaitClasses::add(LiveJob* job, std::string_view name, MonotonicTime first_try) {
  check(!job->wait_class, "a job waits in one class");
  job->wait_class = class_of(name, first_try);
  auto& waiting = job->wait_class->waiting;
  waiting.insert(job);
  if (*waiting.begin() == job && job->wait_class->claimed == 0) {
    // Who steps before others does not put off their turn.
    const bool alone = waiting.size() == 1;
    set_next_try(job->wait_class,
                 alone ? first_try : std::min(first_try, job->wait_class->next_try));
  }
}

void WaitClasses::add_last(LiveJob* job, std::string_view name, MonotonicTime first_try) {
  const auto& waiting = class_of(name, first_try)->waiting;
  if (!waiting.empty() && (*waiting.rbegin())->since > job->since) {
    job->since = (*waiting.rbegin())->since + 1;
  }
  add(job, name, first_try);
}

void WaitClasses::remove(LiveJob* job, std::optional<WallTime> dispatched) {
  WaitClass* wait_class = job->wait_class;
  if (job->claimed_until != 0) {
    claimed_.erase(job);
    job->claimed_until = 0;
    --wait_class->claimed;
  } else {
    wait_class->waiting.erase(job);
  }
  job->wait_class = nullptr;
  if (dispatched) wait_class->dispatched_at = *dispatched;
  drop_if_empty(wait_class);
}

LiveJob* WaitClasses::claim_from(const std::vector<std::string>& classes, MonotonicTime now) {
  return_expired_claims(now);
  LiveJob* longest = nullptr;
  for (const std::string& name : classes) {
    auto found = classes_.find(name);
    if (found == classes_.end()) continue;
    if (found->second.waiting.empty()) {
      found->second.missed = true;
      continue;
    }
    LiveJob* first = *found->second.waiting.begin();
    if (!longest || ByTime<&LiveJob::since>{}(first, longest)) longest = first;
  }
  if (longest) claim(longest, now);
  return longest;
}

LiveJob* WaitClasses::claim_due(MonotonicTime now) {
  return_expired_claims(now);
  while (!by_next_try_.empty() && (*by_next_try_.begin())->next_try <= now) {
    WaitClass* wait_class = *by_next_try_.begin();
    set_next_try(wait_class, now + limits::kClaimTtl);
    if (wait_class->waiting.empty()) continue;
    LiveJob* first = *wait_class->waiting.begin();
    claim(first, now);
    return first;
  }
  return nullptr;
}

void WaitClasses::unclaim(LiveJob* job, MonotonicTime next_try) {
  if (job->claimed_until == 0) return;
  claimed_.erase(job);
  job->claimed_until = 0;
  --job->wait_class->claimed;
  job->wait_class->waiting.insert(job);
  // Who missed it may still have room: then it is due at once.
  bool missed = std::exchange(job->wait_class->missed, false);
  set_next_try(job->wait_class, missed ? MonotonicTime() : next_try);
}

Claim WaitClasses::describe(const LiveJob* job) const {
  return {JobId(job->id()), job->wait_class->name, job->wait_class->dispatched_at};
}

size_t WaitClasses::waiting_in(std::string_view name) const {
  auto found = classes_.find(name);
  if (found == classes_.end()) return 0;
  return found->second.waiting.size() + found->second.claimed;
}

std::vector<WaitClassView> WaitClasses::list(std::string_view after, size_t limit) const {
  std::map<const WaitClass*, int64_t> oldest;
  for (const LiveJob* job : claimed_) {
    auto [found, first] = oldest.emplace(job->wait_class, job->since);
    if (!first) found->second = std::min(found->second, job->since);
  }
  std::vector<WaitClassView> views;
  for (auto at = classes_.upper_bound(after); at != classes_.end(); ++at) {
    if (views.size() == limit) break;
    const auto& [name, wait_class] = *at;
    int64_t since = std::numeric_limits<int64_t>::max();
    if (!wait_class.waiting.empty()) since = (*wait_class.waiting.begin())->since;
    if (auto found = oldest.find(&wait_class); found != oldest.end()) {
      since = std::min(since, found->second);
    }
    views.push_back(
        {name, wait_class.waiting.size() + wait_class.claimed, wall_time_from_micros(since)});
  }
  return views;
}

void WaitClasses::claim(LiveJob* job, MonotonicTime now) {
  job->wait_class->waiting.erase(job);
  ++job->wait_class->claimed;
  job->claimed_until = (now + limits::kClaimTtl).time_since_epoch().count();
  claimed_.insert(job);
}

void WaitClasses::return_expired_claims(MonotonicTime now) {
  while (!claimed_.empty() &&
         (*claimed_.begin())->claimed_until <= now.time_since_epoch().count()) {
    unclaim(*claimed_.begin(), now);
  }
}

void WaitClasses::set_next_try(WaitClass* wait_class, MonotonicTime at) {
  by_next_try_.erase(wait_class);
  wait_class->next_try = at;
  by_next_try_.insert(wait_class);
}

void WaitClasses::drop_if_empty(WaitClass* wait_class) {
  if (!wait_class->waiting.empty() || wait_class->claimed > 0) return;
  by_next_try_.erase(wait_class);
  classes_.erase(classes_.find(wait_class->name));
}

}  // namespace fairlead::store
