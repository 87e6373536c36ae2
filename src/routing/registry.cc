#include "routing/registry.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "base/check.h"

namespace fairlead::routing {

namespace {

int32_t free_slots(int32_t load, int32_t capacity) {
  return capacity == 0 ? INT32_MAX : std::max(0, capacity - load);
}

}  // namespace

Heard WorkerRegistry::heartbeat(const WorkerReport& report, MonotonicTime now) {
  if (auto valid = validate(report); !valid) return {.problem = valid.error().message};
  const Worker* known = find_present(report.id);
  if (known && now < known->view.last_seen) {
    return {.problem = "heartbeat is older than what is known of the worker"};
  }
  if (!known && present_ >= limits::kWorkersMax) {
    return {.problem = fmt::format("registry is full: it has {} workers", present_)};
  }

  bool moves = !known || known->view.report.pool != report.pool ||
               known->view.report.labels != report.labels;
  bool was_open = !moves && known->open && now - known->view.last_seen <= ttl_;

  Worker& worker = *workers_.find_or_make(report.id).first;
  forgive(worker);
  if (known && moves) index_.erase(worker);
  std::vector<std::string> topics;
  if (known) {
    topics = std::move(worker.view.report.ready_topics);
  } else if (auto introduced = introduced_.extract(report.id)) {
    topics = std::move(introduced.mapped());
  }
  worker.view.report = report;
  worker.view.report.ready_topics = std::move(topics);
  sanitise(worker.view.report);
  worker.view.last_seen = now;
  worker.cpu_load = worker.view.report.cpu_load;
  worker.gpu_utilization = worker.view.report.gpu_utilization;
  worker.max_parallel_jobs = worker.view.report.max_parallel_jobs;
  worker.ledger.heard(worker.view.report.active_jobs);
  if (!known) enter(worker);
  refresh(worker);
  if (moves) index_.insert(worker);

  bool opened = !was_open && worker.open;
  return {.effect = opened ? HeartbeatEffect::kOpened : HeartbeatEffect::kRefreshed};
}

Heard WorkerRegistry::introduce(const WorkerId& id, std::vector<std::string> given) {
  if (auto valid = validate(id); !valid) return {.problem = valid.error().message};
  auto topics = validated_topics(std::move(given));
  if (!topics) return {.problem = topics.error().message};
  Worker* known = find_known(id);
  if (known == nullptr || !known->present) {
    introduced_.erase(id);
    if (introduced_.size() >= limits::kIntroducedMax) introduced_.clear();
    if (!topics->empty()) introduced_.emplace(id, *std::move(topics));
    return {.effect = HeartbeatEffect::kRefreshed};
  }
  if (known->view.report.ready_topics == *topics) return {.effect = HeartbeatEffect::kRefreshed};
  index_.erase(*known);
  if (known->refused) resorts_.erase(*known->resort);
  known->view.report.ready_topics = *std::move(topics);
  index_.insert(*known);
  if (known->refused) resorts_.insert(*known->resort);
  return {.effect = known->open ? HeartbeatEffect::kOpened : HeartbeatEffect::kRefreshed};
}

void WorkerRegistry::hold(const JobId& job, const WorkerId& worker) {
  auto [held, fresh] = jobs_.find_or_make(job);
  if (!fresh) {
    if (held->worker->key() == worker) return;
    detach(*held);
  }
  Worker* known = find_known(worker);
  attach(*held, known ? *known : *workers_.find_or_make(worker).first);
}

void WorkerRegistry::release(const JobId& job) {
  jobs_.erase(job, [this](HeldJob& held) { detach(held); });
}

void WorkerRegistry::ended(const JobId& job, const WorkerId& worker) {
  if (jobs_.find(job) != nullptr) return release(job);
  Worker* known = find_known(worker);
  if (known == nullptr || !known->present) return;
  known->ledger.ended_elsewhere();
  refresh(*known);
}

void WorkerRegistry::refused(const WorkerId& worker) {
  Worker* known = find_known(worker);
  if (known == nullptr || !known->present) return;
  if (!std::exchange(known->refused, true)) {
    ++refused_;
    known->resort = std::make_unique<Candidate>();
    known->resort->report = &known->view.report;
    known->resort->rank.ordinal = known->rank.ordinal;
    resorts_.insert(*known->resort);
  }
  refresh(*known);
}

void WorkerRegistry::forgive(Worker& worker) {
  if (!std::exchange(worker.refused, false)) return;
  --refused_;
  resorts_.erase(*worker.resort);
  worker.resort.reset();
}

const WorkerReport* WorkerRegistry::last_resort(const Route& route,
                                                std::span<const WorkerId> excluded) const {
  if (refused_ == 0) return nullptr;
  const auto absent = absent_of(excluded, [](Worker& worker) { return worker.resort.get(); });
  FoundViews found;
  WorkerIndex::Found resorts =
      resorts_.find(route.pools, route.placement, route.topic, absent, found);
  if (resorts.best == nullptr) return nullptr;
  const bool all = resorts.matching == candidates(route, excluded).matching;
  return all ? resorts.best->report : nullptr;
}

void WorkerRegistry::left(const WorkerId& worker) {
  Worker* known = find_known(worker);
  if (known && known->present) leave(*known);
}

bool WorkerRegistry::heard_lately(const WorkerId& worker, MonotonicTime now) const {
  const Worker* known = find_known(worker);
  return known && known->expires && now - known->view.last_seen <= ttl_;
}

bool WorkerRegistry::alive(const WorkerId& worker, MonotonicTime now) const {
  const Worker* known = find_present(worker);
  return known && now - known->view.last_seen <= ttl_;
}

std::vector<WorkerId> WorkerRegistry::sweep(MonotonicTime now) {
  std::vector<WorkerId> expired;
  while (!expiries_.empty() && expiries_.top().first < now) {
    Worker& worker = *expiries_.top().second;
    expiries_.pop();
    MonotonicTime expires = worker.view.last_seen + ttl_;
    if (expires >= now) {
      expiries_.emplace(expires, &worker);
      continue;
    }
    worker.expires = false;
    if (worker.present) {
      expired.push_back(worker.key());
      leave(worker);
    } else {
      forget_if_unused(worker);
    }
  }
  std::ranges::sort(expired);
  return expired;
}

const WorkerView* WorkerRegistry::find(const WorkerId& worker) const {
  const Worker* known = find_present(worker);
  return known ? &show(*known) : nullptr;
}

std::vector<WorkerView> WorkerRegistry::workers() const {
  std::vector<WorkerView> all;
  all.reserve(present_);
  visit([&](const WorkerView& view) { all.push_back(view); });
  return all;
}

void WorkerRegistry::visit(const std::function<void(const WorkerView&)>& visitor) const {
  for (const auto& [id, number] : ids_.numbers()) visitor(show(*workers_.find(id)));
}

std::map<std::string, size_t> WorkerRegistry::count_by_pool(MonotonicTime now) const {
  std::map<std::string, size_t> counts;
  visit([&](const WorkerView& worker) {
    if (now - worker.last_seen > ttl_) return;
    const std::string& pool = worker.report.pool.str();
    ++counts[pool.empty() ? "(none)" : pool];
  });
  return counts;
}

std::vector<JobId> WorkerRegistry::held_jobs(const WorkerId& worker) const {
  std::vector<JobId> jobs;
  const Worker* known = find_known(worker);
  if (known == nullptr) return jobs;
  for (const HeldJob* job = known->jobs; job; job = job->next) jobs.push_back(job->id);
  std::ranges::sort(jobs);
  return jobs;
}

// Those of them that are in an index, as what they are there.
std::vector<const Candidate*> WorkerRegistry::absent_of(std::span<const WorkerId> excluded,
                                                        Candidate* (*as)(Worker&)) const {
  std::vector<const Candidate*> absent;
  for (const WorkerId& id : excluded) {
    Worker* known = find_known(id);
    const Candidate* candidate = known && known->present ? as(*known) : nullptr;
    if (candidate) absent.push_back(candidate);
  }
  std::ranges::sort(absent);
  absent.erase(std::ranges::unique(absent).begin(), absent.end());
  return absent;
}

WorkerRegistry::Candidates WorkerRegistry::candidates(const Route& route,
                                                      std::span<const WorkerId> excluded) const {
  const auto absent = absent_of(excluded, [](Worker& worker) -> Candidate* { return &worker; });
  WorkerIndex::Found found =
      index_.find(route.pools, route.placement, route.topic, absent, route.found);
  if (found.best == nullptr) return {.matching = found.matching};
  recent_ = static_cast<Worker*>(found.best);
  return {.best = found.best->report, .matching = found.matching};
}

WorkerRegistry::Worker* WorkerRegistry::find_known(const WorkerId& worker) const {
  if (recent_ == nullptr || recent_->key() != worker) recent_ = workers_.find(worker);
  return recent_;
}

const WorkerRegistry::Worker* WorkerRegistry::find_present(const WorkerId& worker) const {
  const Worker* known = find_known(worker);
  return known && known->present ? known : nullptr;
}

void WorkerRegistry::enter(Worker& worker) {
  worker.report = &worker.view.report;
  worker.rank.ordinal = ordinal_of(worker.key());
  worker.present = true;
  ++present_;
  if (!std::exchange(worker.expires, true)) {
    expiries_.emplace(worker.view.last_seen + ttl_, &worker);
  }
}

void WorkerRegistry::leave(Worker& worker) {
  forgive(worker);
  index_.erase(worker);
  ids_.erase(worker.key());
  worker.ledger.lost();
  worker.present = false;
  --present_;
  forget_if_unused(worker);
}

void WorkerRegistry::attach(HeldJob& job, Worker& worker) {
  job.worker = &worker;
  job.since = worker.ledger.hold();
  job.next = worker.jobs;
  job.previous = nullptr;
  if (job.next) job.next->previous = &job;
  worker.jobs = &job;
  refresh(worker);
}

void WorkerRegistry::detach(HeldJob& job) {
  Worker& worker = *job.worker;
  worker.ledger.release(job.since);
  (job.previous ? job.previous->next : worker.jobs) = job.next;
  if (job.next) job.next->previous = job.previous;
  refresh(worker);
  forget_if_unused(worker);
}

void WorkerRegistry::forget_if_unused(Worker& worker) {
  if (worker.present || worker.expires || worker.jobs != nullptr) return;
  if (recent_ == &worker) recent_ = nullptr;
  workers_.erase(worker.key(), [](const Worker&) {});
}

uint64_t WorkerRegistry::ordinal_of(const WorkerId& worker) {
  if (auto number = ids_.insert(worker)) return *number;

  ids_.renumber();
  for (const auto& [id, number] : ids_.numbers()) {
    Worker& renumbered = *workers_.find(id);
    renumbered.rank.ordinal = number;
    index_.update(renumbered);
    if (!renumbered.refused) continue;
    renumbered.resort->rank.ordinal = number;
    resorts_.update(*renumbered.resort);
  }
  auto number = ids_.insert(worker);
  check(number.has_value(), "there is room between renumbered ids");
  return *number;
}

void WorkerRegistry::refresh(Worker& worker) {
  int32_t capacity = worker.max_parallel_jobs;
  int32_t load = worker.ledger.load();
  int32_t in_flight = worker.ledger.held() - worker.ledger.ghosts();
  const bool has_room = !overloaded(load, capacity, worker.cpu_load, worker.gpu_utilization);
  worker.open = !worker.refused && has_room;
  check(!worker.open || capacity == 0 || in_flight < capacity,
        "a worker that may be picked has a free slot");
  worker.rank = make_rank(score(load, worker.cpu_load, worker.gpu_utilization), in_flight,
                          free_slots(load, capacity), worker.rank.ordinal);
  index_.update(worker);
  if (!worker.refused) return;
  worker.resort->open = has_room;
  resorts_.update(*worker.resort);
}

const WorkerView& WorkerRegistry::show(const Worker& worker) const {
  WorkerView& view = worker.view;
  int32_t capacity = worker.max_parallel_jobs;
  view.held = worker.ledger.held();
  view.ghosts = worker.ledger.ghosts();
  view.load = worker.ledger.load();
  view.overloaded = !worker.open;
  view.refused = worker.refused;
  view.score = score(view.load, worker.cpu_load, worker.gpu_utilization);
  view.free_slots = free_slots(view.load, capacity);
  view.slot_limit = capacity == 0 ? 0 : capacity + view.ghosts;
  return view;
}

}  // namespace fairlead::routing
