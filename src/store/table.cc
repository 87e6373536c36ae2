#include "store/table.h"

#include <algorithm>

#include "base/check.h"
#include "base/limits.h"
#include "base/planted.h"
#include "store/cursor.h"

namespace fairlead::store {

namespace {

template <class Nodes>
auto* node_of(Nodes& nodes, const std::string& name) {
  auto& node = nodes[name];
  if (!node) {
    node = std::make_unique<typename Nodes::mapped_type::element_type>();
    node->name = name;
  }
  return node.get();
}

template <class Nodes>
void drop_if_empty(Nodes& nodes, typename Nodes::mapped_type::element_type* node) {
  if (node->jobs.empty()) nodes.erase(std::string(node->name));
}

// Never 0, which stands for no text.
uint32_t hash_of(std::string_view text) {
  auto hash = static_cast<uint32_t>(std::hash<std::string_view>{}(text));
  return hash == 0 ? 1 : hash;
}

// Collects ids up to a limit, from where the page before ended. `Time` is the time of the order.
template <int64_t LiveJob::* kTime>
class Collector {
 public:
  // `last` is the job at which the page before ended, if it still stands where it stood.
  Collector(const Query& query, const std::optional<Position>& behind, LiveJob* last)
      : limit_(query.limit), behind_(behind ? to_micros(behind->at) : 0), resumes_(behind) {
    if (last && resumes_ && last->*kTime == behind_) last_ = last;
  }

  template <Link LiveJob::* kLink>
  std::vector<JobId> forwards(const JobList<kLink>& list, bool holds_last) {
    LiveJob* job = last_ && holds_last ? (last_->*kLink).after : list.first();
    bool skips = resumes_ && !(last_ && holds_last);
    for (; job; job = (job->*kLink).after) {
      if (skips && job->*kTime < behind_) continue;
      if (!take(job)) break;
    }
    return std::move(ids_);
  }

  // Latest first; of the time at which the page before ended with an ended job nothing is left.
  template <Link LiveJob::* kLink>
  std::vector<JobId> backwards(const JobList<kLink>& list, bool ended) {
    LiveJob* job = last_ ? (last_->*kLink).before : list.last();
    for (; job; job = (job->*kLink).before) {
      if (resumes_ && (job->*kTime > behind_ || (ended && job->*kTime == behind_))) continue;
      if (!take(job)) break;
    }
    return std::move(ids_);
  }

  std::vector<JobId> until(const std::set<LiveJob*, ByTime<kTime>>& set, int64_t until) {
    for (auto at = last_ ? set.upper_bound(last_) : set.begin(); at != set.end(); ++at) {
      if (resumes_ && (*at)->*kTime < behind_) continue;
      if ((*at)->*kTime > until || !take(*at)) break;
    }
    return std::move(ids_);
  }

 private:
  // False when there is no room for more.
  bool take(const LiveJob* job) {
    if (ids_.size() == limit_) return false;
    ids_.emplace_back(job->id());
    return true;
  }

  std::vector<JobId> ids_;
  size_t limit_;
  int64_t behind_;
  bool resumes_;
  LiveJob* last_ = nullptr;
};

}  // namespace

Table::Table(WallTime opened) : waiting_(opened) {}

Table::~Table() {
  while (LiveJob* job = all_.first()) {
    all_.remove(job);
    LiveJob::destroy(job);
  }
}

LiveJob* Table::find(std::string_view id) const {
  LiveJob* job = jobs_.first(hash_of(id));
  while (job && job->id() != id) job = jobs_.next(job);
  return job;
}

Table::Before Table::before(const JobId& job) const {
  LiveJob* live = find(job.str());
  if (!live) return {};
  return {live->state, live->revision};
}

std::optional<Receipt> Table::refusal(const Change& change, const Before& before,
                                      MonotonicTime now) const {
  const Guard& guard = change.guard;
  bool fits = guard.revision ? before.state && before.revision == *guard.revision : !before.state;
  if (!fits) return Conflict{};
  if (!guard.lease.empty() && !leases_.holds(job_lease_key(change.next->id), guard.lease, now)) {
    return Conflict{nullptr, true};
  }

  std::optional<job::State> from = before.state;
  for (job::State to : change.path) {
    if (!job::may_follow(from, to)) return Refused{from, to};
    from = to;
  }
  check(from == change.next->state, "a change's path ends in its record's state");

  // What the job holds already does not stand in its own way.
  LiveJob* live = find(change.next->id.str());
  if (change.tenant_limit > 0 && job::holds_tenant_slot(*change.next)) {
    uint32_t held = tenant_slots(change.next->tenant) - (live && live->tenant_slot);
    if (held >= change.tenant_limit) return Full{Full::Slot::kTenant, held};
  }
  if (change.worker_limit > 0 && job::holds_worker_slot(*change.next)) {
    auto there = [&](const LiveJob* job) {
      return job && job->worker && job->worker->name == change.next->assignee.str();
    };
    uint32_t held = worker_slots(change.next->assignee) - there(live);
    for (const Ghost& ghost : change.ghosts) {
      const LiveJob* job = find(ghost.job.str());
      held -= job != live && there(job) && job->since == to_micros(ghost.dispatched_at);
    }
    if (held >= change.worker_limit) return Full{Full::Slot::kWorker, held};
  }
  return std::nullopt;
}

void Table::follow(const job::Record& record, MonotonicTime now, WallTime wall) {
  LiveJob* live = find(record.id.str());
  std::optional<WallTime> dispatched;
  if (record.state == job::State::kDispatched) dispatched = wall;
  if (job::is_terminal(record.state)) {
    if (!live) return;
    unlink(live, dispatched);
    jobs_.remove(live);
    LiveJob::destroy(live);
    return;
  }
  if (live) {
    unlink(live, dispatched);
  } else {
    live = LiveJob::make(record.id.str());
    live->id_hash = hash_of(record.id.str());
    jobs_.insert(live);
  }
  link(live, record, now, wall);
}

void Table::link(LiveJob* job, const job::Record& record, MonotonicTime now, WallTime wall) {
  job->revision = record.revision;
  job->state = record.state;
  job->updated_at = to_micros(record.updated_at);
  job->deadline = record.deadline ? to_micros(*record.deadline) : 0;
  job->due = record.due ? to_micros(*record.due) : 0;
  job->tenant_slot = job::holds_tenant_slot(record);
  job->publish_pending = record.publish_pending;
  bool in_class = record.wait && !record.wait->wait_class.empty();
  job->since = to_micros(in_class ? job::place_in_line(*record.wait) : record.dispatched_at);

  job->tenant = node_of(tenants_, record.tenant.str());
  job->tenant->slots += job->tenant_slot;
  if (job::holds_worker_slot(record)) job->worker = node_of(workers_, record.assignee.str());
  push_to_lists(job);
  if (!record.trace.empty()) {
    job->trace_hash = hash_of(record.trace.str());
    traces_.insert(job);
  }
  if (job->deadline) by_deadline_.insert(job);
  if (job->publish_pending) unpublished_.insert(job);
  if (in_class) {
    Duration pause = record.due ? std::max(Duration(0), *record.due - wall) : Duration(0);
    waiting_.add(job, record.wait->wait_class, now + std::min(pause, limits::kBackoffMax));
  } else if (job->due) {
    by_due_.insert(job);
  }
}

void Table::unlink(LiveJob* job, std::optional<WallTime> dispatched) {
  remove_from_lists(job);
  bool leaked = planted(PlantedBug::kSlotLeaked) && job->publish_pending;
  if (!leaked) job->tenant->slots -= job->tenant_slot;
  drop_if_empty(tenants_, std::exchange(job->tenant, nullptr));
  if (job->worker) drop_if_empty(workers_, std::exchange(job->worker, nullptr));
  if (job->trace_hash) traces_.remove(job);
  if (job->deadline) by_deadline_.erase(job);
  if (job->publish_pending) unpublished_.erase(job);
  if (job->wait_class) {
    waiting_.remove(job, dispatched);
  } else if (job->due) {
    by_due_.erase(job);
  }
}

void Table::push_to_lists(LiveJob* job) {
  all_.push_back(job);
  by_state_[static_cast<size_t>(job->state)].push_back(job);
  job->tenant->jobs.push_back(job);
  if (job->worker) job->worker->jobs.push_back(job);
}

void Table::remove_from_lists(LiveJob* job) {
  all_.remove(job);
  by_state_[static_cast<size_t>(job->state)].remove(job);
  job->tenant->jobs.remove(job);
  if (job->worker) job->worker->jobs.remove(job);
}

void Table::sort() {
  std::vector<LiveJob*> jobs;
  jobs.reserve(jobs_.size());
  for (LiveJob* job = all_.first(); job; job = job->in_all.after) jobs.push_back(job);
  std::ranges::sort(jobs, ByTime<&LiveJob::updated_at>{});
  for (LiveJob* job : jobs) {
    remove_from_lists(job);
    push_to_lists(job);
  }
}

std::vector<Claim> Table::claim(const Claims& claims, MonotonicTime now) {
  std::vector<Claim> claimed;
  while (claimed.size() < claims.max) {
    LiveJob* job =
        claims.classes.empty() ? waiting_.claim_due(now) : waiting_.claim_from(claims.classes, now);
    if (!job) break;
    claimed.push_back(waiting_.describe(job));
  }
  return claimed;
}

std::vector<Claim> Table::claim_each(const std::vector<std::vector<std::string>>& groups,
                                     MonotonicTime now) {
  std::vector<Claim> claimed;
  for (const auto& classes : groups) {
    if (LiveJob* job = waiting_.claim_from(classes, now)) claimed.push_back(waiting_.describe(job));
  }
  return claimed;
}

void Table::unclaim(const JobId& job, MonotonicTime next_try) {
  LiveJob* live = find(job.str());
  if (live && live->wait_class) waiting_.unclaim(live, next_try);
}

uint32_t Table::tenant_slots(const TenantId& tenant) const {
  auto found = tenants_.find(tenant.str());
  return found == tenants_.end() ? 0 : found->second->slots;
}

uint32_t Table::worker_slots(const WorkerId& worker) const {
  auto found = workers_.find(worker.str());
  return found == workers_.end() ? 0 : static_cast<uint32_t>(found->second->jobs.size());
}

std::vector<JobId> Table::scan(const Query& query) const {
  std::optional<Position> behind = parse_cursor(query.cursor);
  LiveJob* last = behind && !behind->ended ? find(behind->id) : nullptr;
  Collector<&LiveJob::updated_at> by_change(query, behind, last);
  int64_t until = to_micros(query.until);
  switch (query.by) {
    case Query::By::kRecent:
      return by_change.backwards(all_, behind && behind->ended);
    case Query::By::kState: {
      auto state = job::parse_state(query.text);
      if (!state) return {};
      if (query.latest_first) {
        bool stands = last && last->state == *state;
        return Collector<&LiveJob::updated_at>(query, behind, stands ? last : nullptr)
            .backwards(by_state_[static_cast<size_t>(*state)], false);
      }
      return by_change.forwards(by_state_[static_cast<size_t>(*state)],
                                last && last->state == *state);
    }
    case Query::By::kTenant: {
      auto tenant = tenants_.find(query.text);
      if (tenant == tenants_.end()) return {};
      return by_change.forwards(tenant->second->jobs, last && last->tenant == tenant->second.get());
    }
    case Query::By::kWorker: {
      auto worker = workers_.find(query.text);
      if (worker == workers_.end()) return {};
      return by_change.forwards(worker->second->jobs, last && last->worker == worker->second.get());
    }
    case Query::By::kTrace: {
      std::vector<JobId> ids;
      LiveJob* job = traces_.first(hash_of(query.text));
      for (; job && ids.size() < limits::kScanMax; job = traces_.next(job)) {
        ids.emplace_back(job->id());
      }
      return ids;
    }
    case Query::By::kDeadline:
      return Collector<&LiveJob::deadline>(query, behind, last).until(by_deadline_, until);
    case Query::By::kDue:
      return Collector<&LiveJob::due>(query, behind, last).until(by_due_, until);
    case Query::By::kUnpublished:
      return Collector<&LiveJob::since>(query, behind, last).until(unpublished_, until);
    case Query::By::kEnded:
      return {};
  }
  return {};
}

}  // namespace fairlead::store
