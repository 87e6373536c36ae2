// What must hold in a simulated world: always, and once it has healed.

#include <algorithm>

#include "sim/scenery.h"
#include "sim/world_replica.h"

namespace fairlead::sim {

using namespace std::chrono_literals;

namespace {

// While all is well, nobody may wait this long for a worker that is free.
constexpr Duration kWakeUpMax = 4s;
constexpr Duration kUnpublishedMax = 20s;

}  // namespace

std::vector<store::Snapshot> World::records(const store::Query& query) {
  std::vector<store::Snapshot> found;
  for (const JobId& job : store_->table().scan(query, loop_.now()).jobs) {
    found.push_back(answer_now(store_->load(job, {}))->record);
  }
  return found;
}

void World::check_always() {
  uint32_t held = store_->table().tenant_slots(kLimitedTenant);
  if (held > kTenantLimit) {
    observer_.violation(fmt::format("tenant {} has {} jobs out, its limit is {}",
                                    kLimitedTenant.str(), held, kTenantLimit));
  }
  auto of_tenant =
      records({.by = store::Query::By::kTenant, .text = kLimitedTenant.str(), .limit = 1000});
  auto really = std::ranges::count_if(
      of_tenant, [](const store::Snapshot& record) { return job::holds_tenant_slot(*record); });
  if (really != held) {
    observer_.violation(fmt::format("tenant {} has {} jobs out and {} slots taken",
                                    kLimitedTenant.str(), really, held));
  }
  // Jobs that the worker has by its own word, or is about to get. One that has ended there, or was
  // lost with an earlier life of the worker, may still hold a slot; it must not count.
  for (auto& worker : workers_) {
    auto out =
        records({.by = store::Query::By::kWorker, .text = worker->kind().id.str(), .limit = 1000});
    auto real = std::ranges::count_if(out, [&](const store::Snapshot& record) {
      auto sent = handed_out_at_.find({record->id, record->epoch});
      return !worker->running().contains(record->id.str()) &&
             !worker->has_seen(record->id, record->epoch) && sent != handed_out_at_.end() &&
             loop_.now() - sent->second <= options_.bus_delay_max;
    });
    real += std::ranges::count_if(worker->running(), [&](const auto& running) {
      return is_ours_to_count(*worker, JobId(running.first), Epoch(running.second));
    });
    if (real > worker->kind().capacity) {
      observer_.violation(fmt::format("worker {} was given {} jobs, it can have {}",
                                      worker->kind().id.str(), real, worker->kind().capacity));
    }
  }
}

// Whether a job that a worker runs takes one of its slots. Not when the job went on without it: it
// ended, or the worker was lost or asked for another try.
bool World::is_ours_to_count(const SimWorker& worker, const JobId& job, Epoch epoch) {
  store::Snapshot record = answer_now(store_->load(job, {}))->record;
  if (!record || job::is_terminal(record->state) || record->state == job::State::kRetrying ||
      record->assignee != worker.kind().id) {
    return false;
  }
  if (epoch > record->epoch) return false;  // the store lost that it was handed out
  if (job::holds_worker_slot(*record)) return true;
  return !worker.died_ever() &&
         std::ranges::any_of(record->open_epochs, [&](const job::OpenEpoch& open) {
           return open.epoch == epoch && open.worker == worker.kind().id;
         });
}

// It was lost, or another job has its idempotency key, or had it before the store went back.
bool World::may_be_missing(const JobId& job) {
  if (observer_.may_be_lost(job)) return true;
  auto key = keys_.find(job);
  if (key == keys_.end()) return false;
  auto holder = *answer_now(store_->key_holder(key->second.first, key->second.second));
  return holder ? *holder != job : observer_.store_was_rewound();
}

bool World::everything_ended() {
  if (!healed_ || bus_.undelivered() > 0) return false;
  for (const auto& [job, packet] : jobs_) {
    auto record = answer_now(store_->load(job, {}))->record;
    if (!record && may_be_missing(job)) continue;
    if (!record || !job::is_terminal(record->state)) return false;
  }
  if (!store_->outbox().empty()) return false;
  for (const auto& [job, packet] : jobs_) {
    auto record = answer_now(store_->load(job, {}))->record;
    if (record) observer_.ended(*record, *answer_now(store_->dead_letter(job)));
  }
  uint32_t held = store_->table().tenant_slots(kLimitedTenant);
  if (held > 0) observer_.violation("all jobs have ended and a tenant slot is still held");
  for (auto& worker : workers_) {
    if (store_->table().worker_slots(worker->kind().id) > 0) {
      observer_.violation("all jobs have ended and a worker slot is still held");
    }
  }
  return true;
}

void World::check_liveness() {
  for (const JobId& job : observer_.acknowledged()) {
    auto record = answer_now(store_->load(job, {}))->record;
    if (!record && may_be_missing(job)) continue;
    if (!record) return observer_.violation(job.str() + " was acknowledged and is lost");
    if (!job::is_terminal(record->state)) {
      return observer_.violation(fmt::format("{} is stuck in {}{}", job.str(),
                                             job::to_string(record->state),
                                             record->publish_pending ? ", unpublished" : ""));
    }
  }
  for (const store::StoredMessage& message : store_->outbox()) {
    return observer_.violation(fmt::format("message {} on {} is never published",
                                           message.message.id, message.message.subject));
  }
  observer_.violation("a message is never answered");
}

void World::say_loads() {
  for (auto& replica : replicas_) {
    if (!replica) continue;
    for (const routing::WorkerView& view : replica->scheduler.registry().workers()) {
      say(fmt::format("{} sees {}: load {}, reported {}, held {}, ghosts {}",
                      replica->process->name(), view.report.id.str(), view.load,
                      view.report.active_jobs, view.held, view.ghosts));
    }
  }
}

// A dispatch got the slot of a job that was lost at its worker, and was not published. Where nobody
// knows any more that the other was lost, it cannot be made again before that one is over.
bool World::waits_for_its_worker(const job::Record& record) const {
  auto worker = std::ranges::find(workers_, record.assignee,
                                  [](const auto& each) { return each->kind().id; });
  return worker != workers_.end() && store_->table().worker_slots(record.assignee) >
                                         static_cast<uint32_t>((*worker)->kind().capacity);
}

// While all is well, nobody waits for long beside a free worker, and no dispatch stays in the dark.
void World::check_wake_ups() {
  if (loop_.now() < quiet_at_) return;
  for (const store::Snapshot& record :
       records({.by = store::Query::By::kUnpublished, .age = kUnpublishedMax, .limit = 1000})) {
    if (waits_for_its_worker(*record)) blocked_at_[record->id] = loop_.now();
    auto blocked = blocked_at_.find(record->id);
    if (blocked == blocked_at_.end() || loop_.now() - blocked->second > kUnpublishedMax) {
      observer_.violation(record->id.str() + " is DISPATCHED and nobody publishes it");
    }
  }
  std::map<std::string, MonotonicTime> still;
  for (const store::WaitClassView& view : *answer_now(store_->waiting({}, 1000))) {
    auto wait_class = routing::parse_wait_class(view.wait_class);
    bool room = false;
    for (auto& worker : workers_) {
      routing::WorkerReport report;
      report.id = worker->kind().id;
      report.pool = worker->kind().pool;
      for (const auto& [name, value] : worker->kind().labels) report.labels[name] = value;
      size_t slots = store_->table().worker_slots(report.id);
      // It says what it has, also what the store has lost.
      if (observer_.store_was_rewound()) slots = std::max(slots, worker->running().size());
      room = room ||
             (wait_class && routing::fits(*wait_class, report) && worker->alive() &&
              !worker->overloaded() && !worker->died_ever() &&
              !routing::overloaded(static_cast<int32_t>(slots), worker->kind().capacity, 0, 0));
    }
    if (!wait_class) room = store_->table().tenant_slots(kLimitedTenant) < kTenantLimit;
    if (!room) continue;
    auto since = room_since_.find(view.wait_class);
    still[view.wait_class] = since == room_since_.end() ? loop_.now() : since->second;
    if (loop_.now() - still[view.wait_class] > kWakeUpMax) {
      observer_.violation(
          fmt::format("{} jobs of {} wait beside room for them", view.waiting, view.wait_class));
      say_loads();
    }
  }
  room_since_ = std::move(still);
}

}  // namespace fairlead::sim
