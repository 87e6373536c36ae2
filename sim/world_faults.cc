// What goes wrong in a simulated world, and how it heals.

#include <algorithm>
#include <iterator>
#include <set>

#include "job/request.h"
#include "sim/scenery.h"
#include "sim/world_replica.h"

namespace fairlead::sim {

namespace cap = cordum::agent::v1;
using namespace std::chrono_literals;

void World::repeat(int a_minute, const std::function<void()>& fault) {
  if (a_minute == 0) return;
  double phase = std::chrono::duration<double>(options_.fault_phase).count();
  int times = std::max(1, static_cast<int>(a_minute * phase / 60));
  for (int i = 0; i < times; ++i) {
    loop_.call_at(loop_.now() + random_.between(0s, options_.fault_phase), [this, fault] {
      if (!healed_) fault();
    });
  }
}

void World::schedule_faults() {
  auto any_replica = [this] {
    return static_cast<int>(random_.below(static_cast<uint64_t>(options_.replicas)));
  };
  repeat(options_.crashes, [this, any_replica] {
    observer_.count_fault("replica crashed");
    crash(any_replica());
  });
  repeat(options_.pauses, [this, any_replica] { pause(any_replica()); });
  repeat(options_.clock_steps, [this, any_replica] {
    Replica* replica = replicas_[static_cast<size_t>(any_replica())].get();
    if (!replica) return;
    observer_.count_fault("clock stepped");
    step_clock(*replica->process);
  });
  repeat(options_.store_clock_steps, [this] {
    observer_.count_fault("store's clock stepped");
    step_clock(store_process_);
  });
  repeat(options_.worker_deaths, [this] {
    SimWorker* worker = workers_[random_.below(workers_.size())].get();
    observer_.count_fault("worker died");
    say(worker->kind().id.str() + " dies");
    worker->die();
    Duration away = random_.chance(2) ? random_.between(100ms, 5s) : random_.between(30s, 50s);
    loop_.call_at(loop_.now() + away, [worker] { worker->start(); });
  });
  repeat(options_.worker_lags, [this] {
    SimWorker* worker = workers_[random_.below(workers_.size())].get();
    observer_.count_fault("worker lags");
    say(worker->kind().id.str() + " lags");
    worker->lag(true);
    Duration time = random_.chance(4) ? random_.between(100ms, 5s) : random_.between(31s, 50s);
    loop_.call_at(loop_.now() + time, [worker] { worker->lag(false); });
  });
  repeat(options_.policy_changes, [this] { change_policy(); });
  if (options_.long_downtime) {
    loop_.call_at(loop_.now() + random_.between(0s, options_.fault_phase), [this] { go_down(); });
  }
  repeat(options_.bus_absences, [this] {
    observer_.count_fault("bus away");
    lose_bus(random_.chance(2) ? random_.between(100ms, 5s) : random_.between(5s, 50s));
  });
  if (options_.long_bus_absence) {
    // Early, when most jobs wait.
    loop_.call_at(loop_.now() + random_.between(0s, 5s), [this] {
      if (healed_) return;
      observer_.count_fault("bus away for long");
      // Longer than a waiting job is tried for.
      Duration away = random_.between(24min, 28min);
      end_of_faults_ += away;
      lose_bus(away);
    });
  }
  repeat(options_.store_failovers, [this] { fail_over(); });
  repeat(options_.stream_losses, [this] { lose_end_of_stream(); });
  repeat(options_.worker_overloads, [this] {
    SimWorker* worker = workers_[random_.below(workers_.size())].get();
    observer_.count_fault("worker overloaded");
    worker->overload(true);
    loop_.call_at(loop_.now() + random_.between(2s, 10s), [worker] { worker->overload(false); });
  });
}

void World::step_clock(Process& process) {
  Duration by = random_.between(0s, 6s) - 3s;
  if (options_.far_clock_steps && random_.chance(2)) {
    observer_.count_fault("clock stepped far");
    by = random_.between(25min, kFarClockStepMax) * (random_.chance(2) ? 1 : -1);
  }
  say(fmt::format("{}: clock steps by {} us", process.name(), by.count()));
  process.step_clock(by);
}

void World::change_policy() {
  using Kind = job::Decision::Kind;
  constexpr Kind kKinds[] = {Kind::kAllow, Kind::kDeny, Kind::kRequireApproval, Kind::kThrottle};
  job::Decision decision;
  decision.kind = kKinds[random_.below(std::size(kKinds))];
  decision.reason = "simulated: another mind";
  observer_.count_fault("policy changes its mind");
  say(fmt::format("policy changes its mind: {}", static_cast<int>(decision.kind)));
  policy_.decide(kFickleTopic, std::move(decision));
}

// No replica runs for longer than a waiting job is tried for.
void World::go_down() {
  observer_.count_fault("all replicas down");
  say("all replicas go down");
  Duration away = random_.between(31min, 45min);
  down_until_ = loop_.now() + away;
  end_of_faults_ += away;
  for (int i = 0; i < options_.replicas; ++i) {
    replicas_[static_cast<size_t>(i)].reset();
    loop_.call_at(down_until_ + random_.between(0s, 2s), [this, i] { boot(i); });
  }
}

void World::lose_bus(Duration time) {
  say(fmt::format("the bus goes away for {} us", time.count()));
  bus_.go_away(time);
}

// To a server that had not yet received the last writes.
void World::fail_over() {
  observer_.count_fault("store failed over");
  std::set<JobId> lost;
  for (const auto& [job, packet] : jobs_) {
    if (answer_now(store_->load(job, {}))->record) lost.insert(job);
  }
  const Duration time = random_.chance(2) ? random_.between(0s, 100ms) : random_.between(100ms, 5s);
  store_.fail_over(time);
  std::erase_if(
      lost, [&](const JobId& job) { return answer_now(store_->load(job, {}))->record != nullptr; });
  say(fmt::format("the store fails over and loses {} us with {} jobs", time.count(), lost.size()));
  observer_.store_rewound(lost);
  rewound_ = loop_.now();
}

void World::lose_end_of_stream() {
  if (bus_.is_away()) return;
  observer_.count_fault("end of the stream lost");
  const Duration time = random_.between(0s, 3s);
  say(fmt::format("the stream loses its last {} us", time.count()));
  bus_.lose_end_of_stream(time);
}

void World::crash(int index) {
  std::unique_ptr<Replica>& replica = replicas_[static_cast<size_t>(index)];
  if (!replica) return;
  say(replica->process->name() + " crashes");
  replica.reset();
  Duration away = healed_ ? Duration(100ms) : Duration(random_.between(100ms, 8s));
  loop_.call_at(loop_.now() + away, [this, index] { boot(index); });
}

void World::boot(int index) {
  std::unique_ptr<Replica>& replica = replicas_[static_cast<size_t>(index)];
  if (replica || loop_.now() < down_until_) return;
  replica = std::make_unique<Replica>(*this, index);
  say(replica->process->name() + " boots as " + replica->scheduler.name());
  if (options_.clock_steps > 0) step_clock(*replica->process);
  replica->starting.spawn(replica->start());
}

void World::pause(int index) {
  Replica* replica = replicas_[static_cast<size_t>(index)].get();
  if (!replica || replica->process->paused()) return;
  observer_.count_fault("replica paused");
  say(replica->process->name() + " pauses");
  replica->process->pause();
  Duration away = random_.chance(4) ? random_.between(55s, 70s) : random_.between(1s, 12s);
  loop_.call_at(loop_.now() + away, [this, process = std::weak_ptr(replica->process)] {
    auto there = process.lock();
    if (!there || !there->paused()) return;
    say(there->name() + " wakes up");
    there->resume();
  });
}

void World::heal() {
  say("everything heals");
  healed_ = true;
  quiet_at_ = loop_.now() + kQuietAfter;
  // Leases that a server has again after they were given back run out.
  if (rewound_) quiet_at_ = std::max(quiet_at_, *rewound_ + limits::kJobLeaseTtl + kQuietAfter);
  bus_.come_back();
  for (int i = 0; i < options_.replicas; ++i) {
    if (Replica* replica = replicas_[static_cast<size_t>(i)].get()) {
      if (replica->process->paused()) replica->process->resume();
    } else {
      boot(i);
    }
  }
  for (auto& worker : workers_) {
    worker->overload(false);
    worker->lag(false);
    worker->start();
  }
  job::Decision allow;
  allow.kind = job::Decision::Kind::kAllow;
  policy_.decide(kFickleTopic, std::move(allow));
  // More than the workers can take at once, so that jobs wait and must be woken.
  for (int i = 0; i < 12; ++i) {
    JobId job(fmt::format("late-{}", i));
    cap::BusPacket packet;
    packet.set_trace_id("trace-" + job.str());
    packet.set_sender_id("client");
    packet.mutable_job_request()->set_job_id(job.str());
    packet.mutable_job_request()->set_topic(i % 2 ? "job.plain" : "job.gpu");
    jobs_[job] = job::serialise(packet);
    loop_.call_at(quiet_at_, [this, job] { submit(job); });
  }
}

void World::decide_approvals() {
  const char* waiting = job::to_string(job::State::kApprovalRequired);
  auto page =
      answer_now(store_->scan({.by = store::Query::By::kState, .text = waiting, .limit = 1000}));
  for (const job::Record& record : page->records) {
    if (!healed_ && !random_.chance(4)) continue;  // later
    if (random_.chance(2)) {
      approve(record);
    } else {
      cancel(record.id);
    }
  }
}

// As a gateway does it: the approval goes into the record, and the job is submitted again.
void World::approve(const job::Record& record) {
  say("somebody approves " + record.id.str());
  observer_.approved(record.id);
  store::Change change;
  change.guard.revision = record.revision;
  change.path = {job::State::kPending};
  *change.next = record;
  change.next->state = job::State::kPending;
  change.next->approval =
      job::Approval{record.request_hash, record.decision.policy_snapshot, "somebody"};
  change.next->updated_at = store_process_.wall();
  change.next->due = change.next->updated_at + limits::kClaimTtl;  // should the submit be lost
  (void)store_.run<store::Receipt>([this, change](store::MemoryStore& store) {
    store::Snapshot before = answer_now(store.load(change.next->id, {}))->record;
    Result<store::Receipt> receipt = answer_now(store.apply(change));
    const bool applied = std::holds_alternative<store::Applied>(*receipt);
    if (applied && !store_.repeats()) observer_.committed(before, change);
    return receipt;
  });
  submit(record.id);
}

}  // namespace fairlead::sim
