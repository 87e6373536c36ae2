#include "store/table.h"

#include <algorithm>

#include "base/check.h"
#include "base/limits.h"
#include "base/planted.h"

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

// The time of a record as a number, 0 when there is none.
int64_t micros_of(const std::optional<WallTime>& time) {
  return time ? to_micros(*time) : 0;
}

// Takes over a time of a record, and tells when it comes. One that stays as it was comes when it
// was to come, whatever the clock of this writer says.
void set_time(int64_t& time, int64_t& comes_at, int64_t given, MonotonicTime now, WallTime wall) {
  if (given == time) return;
  time = given;
  comes_at = now.time_since_epoch().count() + (given - to_micros(wall));
}

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

namespace {

// It stands in no line yet, by this commit: who stood in one keeps an earlier place.
bool begins_to_wait(const job::Record& record) {
  return record.wait && record.wait->queued_at == record.updated_at &&
         record.wait->since == record.updated_at;
}

}  // namespace

LiveJob* Table::make(const job::Record& record) {
  LiveJob* live = LiveJob::make(record.id.str());
  live->id_hash = hash_of(record.id.str());
  jobs_.insert(live);
  enter_queue(live, record);
  return live;
}

void Table::follow(const job::Record& record, MonotonicTime now) {
  LiveJob* live = find(record.id.str());
  if (live) {
    std::optional<WallTime> dispatched;
    if (record.state == job::State::kDispatched) dispatched = record.updated_at;
    unlink(live, dispatched);
  }
  if (job::is_terminal(record.state)) {
    if (!live) return;
    leave_queue(live);
    jobs_.remove(live);
    LiveJob::destroy(live);
    return;
  }
  Line line = begins_to_wait(record) ? Line::kBehindAll : Line::kByPlace;
  link(live ? live : make(record), record, {now, record.updated_at}, line);
}

// A clock that was set back meanwhile does not make anybody wait for longer than was meant.
void Table::restore(const job::Record& record, MonotonicTime now, WallTime wall) {
  link(make(record), record, {now, std::max(wall, record.updated_at)}, Line::kByPlace);
}

// A job keeps its tenant and its topic as long as it lives.
void Table::enter_queue(LiveJob* job, const job::Record& record) {
  TenantJobs* tenant = node_of(tenants_, record.tenant.str());
  std::unique_ptr<QueueJobs>& queue = tenant->queues[record.topic.str()];
  if (!queue) {
    queue = std::make_unique<QueueJobs>();
    queue->tenant = tenant;
    queue->topic = record.topic.str();
  }
  job->queue = queue.get();
}

void Table::leave_queue(LiveJob* job) {
  QueueJobs* queue = std::exchange(job->queue, nullptr);
  TenantJobs* tenant = queue->tenant;
  if (queue->jobs.empty()) tenant->queues.erase(std::string(queue->topic));
  drop_if_empty(tenants_, tenant);
}

void Table::link(LiveJob* job, const job::Record& record, Now at, Line line) {
  const auto [now, wall] = at;
  bool was_marked = std::exchange(job->publish_pending, record.publish_pending);
  bool same_dispatch = job->since == to_micros(record.dispatched_at);
  job->revision = record.revision;
  job->state = record.state;
  job->updated_at = to_micros(record.updated_at);
  set_time(job->deadline, job->deadline_at, micros_of(record.deadline), now, wall);
  set_time(job->due, job->due_at, micros_of(record.due), now, wall);
  job->tenant_slot = job::holds_tenant_slot(record);
  bool in_class = record.wait && !record.wait->wait_class.empty();
  job->since = to_micros(in_class ? job::place_in_line(*record.wait) : record.dispatched_at);

  job->team_hash = record.team.empty() ? 0 : hash_of(record.team);
  job->queue->tenant->slots += job->tenant_slot;
  ++job->queue->in_state[static_cast<size_t>(job->state)];
  if (job::holds_worker_slot(record)) job->worker = node_of(workers_, record.assignee.str());
  push_to_lists(job);
  if (!record.trace.empty()) {
    job->trace_hash = hash_of(record.trace.str());
    traces_.insert(job);
  }
  if (job->deadline) by_deadline_.insert(job);
  if (job->publish_pending) {
    if (!was_marked || !same_dispatch) job->marked_at = now.time_since_epoch().count();
    unpublished_.insert(job);
  }
  if (in_class) {
    Duration pause = record.due ? std::max(Duration(0), *record.due - wall) : Duration(0);
    MonotonicTime first_try = now + std::min(pause, limits::kBackoffMax);
    if (line == Line::kBehindAll) {
      waiting_.add_last(job, record.wait->wait_class, first_try);
    } else {
      waiting_.add(job, record.wait->wait_class, first_try);
    }
  } else if (job->due) {
    by_due_.insert(job);
  }
}

void Table::unlink(LiveJob* job, std::optional<WallTime> dispatched) {
  remove_from_lists(job);
  bool leaked = planted(PlantedBug::kSlotLeaked) && job->publish_pending;
  if (!leaked) job->queue->tenant->slots -= job->tenant_slot;
  --job->queue->in_state[static_cast<size_t>(job->state)];
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
  job->queue->jobs.push_back(job);
  job->queue->tenant->jobs.push_back(job);
  if (job->worker) job->worker->jobs.push_back(job);
}

void Table::remove_from_lists(LiveJob* job) {
  all_.remove(job);
  by_state_[static_cast<size_t>(job->state)].remove(job);
  job->queue->jobs.remove(job);
  job->queue->tenant->jobs.remove(job);
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

}  // namespace fairlead::store
