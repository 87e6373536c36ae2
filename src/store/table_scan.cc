// What the table knows in order: pages of the live jobs, and how many are where.
#include <algorithm>
#include <tuple>

#include "base/limits.h"
#include "store/table.h"

namespace fairlead::store {

namespace {

// Collects ids in the order of change, up to a limit, from where the page before ended. `last` is
// the job at which it ended, if it stands in the list.
template <Link LiveJob::* kLink>
Table::Scanned oldest_first(const JobList<kLink>& list, const Query& query,
                            const std::optional<Position>& behind, const LiveJob* last) {
  Table::Scanned found;
  if (last && last->updated_at != to_micros(behind->at)) last = nullptr;  // it has moved since
  LiveJob* job = last ? (last->*kLink).after : list.first();
  for (; job && found.jobs.size() < query.limit; job = (job->*kLink).after) {
    if (!last && behind && job->updated_at < to_micros(behind->at)) continue;
    found.jobs.emplace_back(job->id());
  }
  return found;
}

// The first of a set, up to a time.
template <int64_t LiveJob::* kTime>
Table::Scanned until(const std::set<LiveJob*, ByTime<kTime>>& set, MonotonicTime last,
                     size_t limit) {
  Table::Scanned found;
  for (auto at = set.begin(); at != set.end() && found.jobs.size() < limit; ++at) {
    if ((*at)->*kTime > last.time_since_epoch().count()) break;
    found.jobs.emplace_back((*at)->id());
  }
  return found;
}

Position position_of(const LiveJob& job) {
  return {wall_time_from_micros(job.updated_at), std::string(job.id()), false};
}

bool takes(const Only& only, const LiveJob& job) {
  return only.takes(job.state) && (only.tenant.empty() || only.tenant == job.queue->tenant->name) &&
         (only.topic.empty() || only.topic == job.queue->topic) &&
         (only.team.empty() || hash_of(only.team) == job.team_hash) &&
         (only.worker.empty() || (job.worker && only.worker == job.worker->name));
}

// The latest one of a list behind the position, sought from both ends: lists are long, and people
// look at their ends.
template <Link LiveJob::* kLink>
LiveJob* latest_behind(const JobList<kLink>& list, const Position& position) {
  int64_t at = to_micros(position.at);
  // Of one time the live ones come before the ended.
  auto behind = [&](const LiveJob* job) {
    return job->updated_at < at || (job->updated_at == at && !position.ended);
  };
  LiveJob* late = list.last();
  LiveJob* early = list.first();
  for (; late && !behind(late); late = (late->*kLink).before) {
    if (!behind(early)) return (early->*kLink).before;
    early = (early->*kLink).after;
  }
  return late;
}

// Latest first. `last` is the job at which the page before ended, if it stands in the list.
template <Link LiveJob::* kLink>
Table::Scanned latest_first(const JobList<kLink>& list, const Query& query,
                            const std::optional<Position>& behind, const LiveJob* last) {
  Table::Scanned found;
  LiveJob* job = last ? (last->*kLink).before : behind ? latest_behind(list, *behind) : list.last();
  for (; job && job->updated_at >= to_micros(query.only.since); job = (job->*kLink).before) {
    ++found.visited;
    if (takes(query.only, *job)) found.jobs.emplace_back(job->id());
    if (found.jobs.size() < query.limit && found.visited < limits::kScanVisitsMax) continue;
    found.stopped = position_of(*job);
    break;
  }
  return found;
}

bool waits(job::State state) {
  return state == job::State::kPending || state == job::State::kScheduled ||
         state == job::State::kRetrying;
}

// The first of those that wait, past the few that do not.
std::optional<WallTime> oldest_waiting(const QueueJobs& queue) {
  size_t visits = 0;
  for (LiveJob* job = queue.jobs.first(); job; job = job->in_queue.after) {
    if (waits(job->state)) return wall_time_from_micros(job->updated_at);
    if (++visits == limits::kScanVisitsMax) break;
  }
  return std::nullopt;
}

}  // namespace

// Through the shortest list that holds all that is asked for.
Table::Scanned Table::recent(const Query& query, const std::optional<Position>& behind,
                             LiveJob* last) const {
  const Only& only = query.only;
  if (last && to_micros(behind->at) != last->updated_at) last = nullptr;  // it has moved since
  if (!only.worker.empty()) {
    auto worker = workers_.find(only.worker);
    if (worker == workers_.end()) return {};
    bool stands = last && last->worker == worker->second.get();
    return latest_first(worker->second->jobs, query, behind, stands ? last : nullptr);
  }
  std::vector<job::State> states;
  for (job::State state : job::kAllStates) {
    if (only.takes(state) && !by_state_[static_cast<size_t>(state)].empty()) {
      states.push_back(state);
    }
  }
  if (states.empty()) return {};
  auto tenant = tenants_.find(only.tenant);
  if (!only.tenant.empty() && tenant == tenants_.end()) return {};
  if (!only.tenant.empty() && !only.topic.empty()) {
    auto queue = tenant->second->queues.find(only.topic);
    if (queue == tenant->second->queues.end()) return {};
    bool stands = last && last->queue == queue->second.get();
    return latest_first(queue->second->jobs, query, behind, stands ? last : nullptr);
  }
  const auto& in_state = by_state_[static_cast<size_t>(states.front())];
  size_t of_tenant = only.tenant.empty() ? all_.size() : tenant->second->jobs.size();
  if (states.size() == 1 && in_state.size() < of_tenant) {
    bool stands = last && last->state == states.front();
    return latest_first(in_state, query, behind, stands ? last : nullptr);
  }
  if (only.tenant.empty()) return latest_first(all_, query, behind, last);
  bool stands = last && last->queue->tenant == tenant->second.get();
  return latest_first(tenant->second->jobs, query, behind, stands ? last : nullptr);
}

Table::Scanned Table::scan(const Query& query, MonotonicTime now) const {
  std::optional<Position> behind = parse_cursor(query.cursor);
  LiveJob* last = behind && !behind->ended ? find(behind->id) : nullptr;
  switch (query.by) {
    case Query::By::kRecent:
      return recent(query, behind, last);
    case Query::By::kState: {
      auto state = job::parse_state(query.text);
      if (!state) return {};
      bool stands = last && last->state == *state;
      return oldest_first(by_state_[static_cast<size_t>(*state)], query, behind,
                          stands ? last : nullptr);
    }
    case Query::By::kTenant: {
      auto tenant = tenants_.find(query.text);
      if (tenant == tenants_.end()) return {};
      bool stands = last && last->queue->tenant == tenant->second.get();
      return oldest_first(tenant->second->jobs, query, behind, stands ? last : nullptr);
    }
    case Query::By::kWorker: {
      auto worker = workers_.find(query.text);
      if (worker == workers_.end()) return {};
      bool stands = last && last->worker == worker->second.get();
      return oldest_first(worker->second->jobs, query, behind, stands ? last : nullptr);
    }
    case Query::By::kTrace: {
      Scanned found;
      LiveJob* job = traces_.first(hash_of(query.text));
      for (; job && found.jobs.size() < limits::kTraceLiveMax; job = traces_.next(job)) {
        found.jobs.emplace_back(job->id());
      }
      return found;
    }
    case Query::By::kDeadline:
      return until(by_deadline_, now, query.limit);
    case Query::By::kDue:
      return until(by_due_, now, query.limit);
    case Query::By::kUnpublished:
      return until(unpublished_, now - query.age, query.limit);
    case Query::By::kEnded:
      return {};
  }
  return {};
}

std::vector<Queue> Table::queues() const {
  std::vector<Queue> found;
  for (const auto& [name, tenant] : tenants_) {
    for (const auto& [topic, queue] : tenant->queues) {
      found.push_back({Topic(topic), TenantId(name), queue->in_state, oldest_waiting(*queue)});
    }
  }
  std::ranges::sort(found, {},
                    [](const Queue& queue) { return std::tie(queue.topic, queue.tenant); });
  return found;
}

}  // namespace fairlead::store
