#include "sim/world.h"

#include <algorithm>

#include <fmt/core.h>

#include "job/request.h"

namespace fairlead::sim {

namespace cap = cordum::agent::v1;
using namespace std::chrono_literals;

namespace {

constexpr const char* kPools = R"(
topics:
  job.plain: main
  job.both: [main, spare]
  job.gpu: gpu
  job.limited: main
  job.denied: main
pools:
  main: {}
  spare: {}
  gpu: {requires: [gpu]}
)";

constexpr int kTenantLimit = 2;
const TenantId kLimitedTenant{"limited"};

// After healing, everything must have come to an end within this.
constexpr Duration kLivenessMax = 600s;
// And nobody may wait this long for a worker that is free.
constexpr Duration kWakeUpMax = 4s;
constexpr Duration kUnpublishedMax = 20s;
// Both hold once the leases that faults left behind have expired.
constexpr Duration kQuietAfter = limits::kJobLeaseTtl + 5s;

class TraceLog final : public Log {
 public:
  TraceLog(const std::string& name, std::function<void(std::string)>& say)
      : name_(name), say_(say) {}
  void write(Level, std::string_view phrase, std::initializer_list<Field> fields) override {
    std::string line = name_ + ": " + std::string(phrase);
    for (const auto& [key, value] : fields) line += fmt::format(" {}={}", key, value);
    say_(std::move(line));
  }

 private:
  std::string name_;
  std::function<void(std::string)>& say_;
};

}  // namespace

// Members end in reverse order: first the scheduler, last the process it ran in.
struct World::Replica {
  Replica(World& world, int index)
      : process(
            std::make_shared<Process>(world.loop_, fmt::format("replica-{}", index), Duration(0))),
        crash(
            [&world, index] { world.loop_.post_urgent([&world, index] { world.crash(index); }); }),
        log(process->name(), world.plugs_.trace),
        random(world.random_.next()),
        store(world.plugs_, world.store_, process, crash),
        bus(world.bus_, process, crash),
        gate(world.plugs_, world.policy_, process),
        scheduler({*process, *process, random, store, bus, gate, log},
                  settings(index, world.options_), world.pools_) {}

  static scheduler::Settings settings(int index, const Options& options) {
    scheduler::Settings settings;
    settings.instance = fmt::format("replica-{}", index);
    settings.timeouts = {.dispatch = options.dispatch_timeout, .running = 60s};
    return settings;
  }

  Task<void> start() {
    while (true) {
      Result<void> started = co_await scheduler.start();
      if (started) co_return;
      if (!co_await process->delay(500ms)) co_return;
    }
  }

  std::shared_ptr<Process> process;
  std::function<void()> crash;
  TraceLog log;
  SeededRandom random;
  FaultyStore store;
  BusEndpoint bus;
  SimGate gate;
  scheduler::Scheduler scheduler;
  Nursery starting;
};

World::World(uint64_t seed, std::function<void(std::string)> trace)
    : random_(seed),
      options_(Options::draw(random_)),
      trace_(std::move(trace)),
      plugs_{loop_,     random_, options_,
             observer_, healed_, [this](std::string text) { say(std::move(text)); }},
      store_process_(loop_, "store", Duration(0)),
      store_(store_process_),
      bus_(plugs_) {
  auto pools = routing::parse_pool_map(kPools);
  check(pools.has_value(), "the simulated pools can be read");
  pools_ = std::make_shared<routing::PoolMap>(*std::move(pools));
}

World::~World() = default;

void World::say(std::string text) {
  if (!trace_) return;
  trace_(fmt::format("{:10.6f} {}",
                     std::chrono::duration<double>(loop_.now().time_since_epoch()).count(), text));
}

Report World::run() {
  set_up();
  MonotonicTime end_of_faults = loop_.now() + options_.fault_phase;
  while (loop_.now() < end_of_faults && !observer_.violated()) {
    loop_.run_for(100ms);
    check_always();
  }
  if (!observer_.violated()) heal();
  MonotonicTime last = loop_.now() + kLivenessMax;
  while (!observer_.violated() && !everything_ended()) {
    loop_.run_for(250ms);
    check_always();
    check_wake_ups();
    if (loop_.now() >= last) check_liveness();
  }
  return {observer_.violated(), observer_.faults(), observer_.transitions(), loop_.steps(),
          loop_.now().time_since_epoch()};
}

void World::set_up() {
  policy_.deny(Topic("job.denied"), "simulated: denied");
  observer_.denied_topic(Topic("job.denied"));
  cap::PolicyConstraints limited;
  limited.mutable_budgets()->set_max_concurrent_jobs(kTenantLimit);
  limited.mutable_budgets()->set_max_retries(1);
  policy_.constrain(Topic("job.limited"), limited);

  bus_.on_dispatch = [this](const std::string& subject, const std::string& bytes) {
    cap::BusPacket packet;
    check(packet.ParseFromString(bytes), "a dispatch can be read");
    const cap::JobRequest& request = packet.job_request();
    Epoch epoch(request.dispatch().attempt());
    JobId job(request.job_id());
    WorkerId worker(routing::worker_of_subject(subject));
    say(fmt::format("publish {} epoch {} to {}", job.str(), epoch.value(), worker.str()));
    handed_out_at_[{job, epoch}] = loop_.now();
    observer_.handed_out(job, epoch, worker, answer_now(store_.load(job, {}))->record);
  };

  for (int i = 0; i < options_.workers; ++i) {
    SimWorker::Kind kind;
    kind.id = WorkerId(fmt::format("w{}", i));
    kind.pool = PoolName(i % 3 == 2 ? "gpu" : i % 3 == 1 ? "spare" : "main");
    kind.capacity = 1 + static_cast<int>(random_.below(3));
    // Every pool has one, so that every job can be placed in the end.
    if (i < 3 || random_.chance(2)) kind.labels["node.zone"] = "eu";
    workers_.push_back(std::make_unique<SimWorker>(plugs_, bus_, std::move(kind)));
    SimWorker* worker = workers_.back().get();
    loop_.call_at(loop_.now() + random_.between(0s, 3s), [worker] { worker->start(); });
  }
  replicas_.resize(static_cast<size_t>(options_.replicas));
  for (int i = 0; i < options_.replicas; ++i) boot(i);
  submit_jobs();
  schedule_faults();
}

cap::JobRequest World::make_request(const JobId& job) {
  cap::JobRequest request;
  request.set_job_id(job.str());
  switch (random_.below(12)) {
    case 0:
      request.set_topic("job.denied");
      break;
    case 1:
      request.set_topic("job.nowhere");
      break;
    case 2:
    case 3:
      request.set_topic("job.gpu");
      request.mutable_meta()->add_requires("gpu");
      break;
    case 4:
    case 5:
    case 6:
      request.set_topic("job.limited");
      request.set_tenant_id(kLimitedTenant.str());
      break;
    case 7:
    case 8:
      request.set_topic("job.both");
      break;
    default:
      request.set_topic("job.plain");
      break;
  }
  if (random_.chance(6)) (*request.mutable_labels())["node.zone"] = "eu";
  if (random_.chance(8)) (*request.mutable_labels())["preferred_worker_id"] = "w0";
  if (random_.chance(3)) (*request.mutable_labels())["retry_on_worker_loss"] = "true";
  if (random_.chance(10)) request.mutable_budget()->set_deadline_ms(15'000);
  return request;
}

void World::submit_jobs() {
  for (int i = 0; i < options_.jobs; ++i) {
    JobId job(fmt::format("job-{}", i));
    cap::BusPacket packet;
    packet.set_trace_id("trace-" + job.str());
    packet.set_sender_id("client");
    *packet.mutable_job_request() = make_request(job);
    bool limited = packet.job_request().topic() == "job.limited";
    jobs_[job] = {job::serialise(packet), limited};

    Duration when =
        options_.bursts ? Duration(0) : Duration(random_.between(0s, options_.fault_phase));
    loop_.call_at(loop_.now() + when, [this, job] { submit(job); });
    if (random_.chance(10)) {
      Duration later = when + random_.between(0s, 10s);
      loop_.call_at(loop_.now() + later, [this, job] {
        observer_.count_fault("submit repeated");
        submit(job);
      });
    }
    if (random_.chance(12)) {
      // Another job of the same id: it must not replace the first.
      cap::BusPacket other = packet;
      (*other.mutable_job_request()->mutable_env())["hijack"] = "yes";
      loop_.call_at(loop_.now() + when + random_.between(1s, 10s),
                    [this, bytes = job::serialise(other)] {
                      observer_.count_fault("job id hijacked");
                      bus_.publish(std::string(bus::kSubmitSubject), bytes);
                    });
    }
    if (random_.chance(8)) {
      loop_.call_at(loop_.now() + when + random_.between(0s, 10s), [this, job] {
        observer_.count_fault("job cancelled");
        cap::BusPacket cancel;
        cancel.set_trace_id("cancel");
        cancel.set_sender_id("client");
        cancel.mutable_job_cancel()->set_job_id(job.str());
        bus_.publish(std::string(bus::kCancelSubject), job::serialise(cancel));
      });
    }
  }
}

void World::submit(const JobId& job) {
  bus_.publish(std::string(bus::kSubmitSubject), jobs_[job].packet);
  observer_.acknowledged(job);
}

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
    Duration by = random_.between(0s, 6s) - 3s;
    say(fmt::format("{}: clock steps by {} us", replica->process->name(), by.count()));
    replica->process->step_clock(by);
  });
  repeat(options_.worker_deaths, [this] {
    SimWorker* worker = workers_[random_.below(workers_.size())].get();
    observer_.count_fault("worker died");
    say(worker->kind().id.str() + " dies");
    worker->die();
    Duration away = random_.chance(2) ? random_.between(100ms, 5s) : random_.between(30s, 50s);
    loop_.call_at(loop_.now() + away, [worker] { worker->start(); });
  });
  repeat(options_.worker_overloads, [this] {
    SimWorker* worker = workers_[random_.below(workers_.size())].get();
    observer_.count_fault("worker overloaded");
    worker->overload(true);
    loop_.call_at(loop_.now() + random_.between(2s, 10s), [worker] { worker->overload(false); });
  });
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
  if (replica) return;
  replica = std::make_unique<Replica>(*this, index);
  say(replica->process->name() + " boots as " + replica->scheduler.name());
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
  for (int i = 0; i < options_.replicas; ++i) {
    if (Replica* replica = replicas_[static_cast<size_t>(i)].get()) {
      replica->process->set_clock_right();
      if (replica->process->paused()) replica->process->resume();
    } else {
      boot(i);
    }
  }
  for (auto& worker : workers_) {
    worker->overload(false);
    worker->start();
  }
  // More than the workers can take at once, so that jobs wait and must be woken.
  for (int i = 0; i < 12; ++i) {
    JobId job(fmt::format("late-{}", i));
    cap::BusPacket packet;
    packet.set_trace_id("trace-" + job.str());
    packet.set_sender_id("client");
    packet.mutable_job_request()->set_job_id(job.str());
    packet.mutable_job_request()->set_topic(i % 2 ? "job.plain" : "job.gpu");
    jobs_[job] = {job::serialise(packet), false};
    loop_.call_at(loop_.now() + kQuietAfter, [this, job] { submit(job); });
  }
}

void World::check_always() {
  uint32_t held = store_.table().tenant_slots(kLimitedTenant);
  if (held > kTenantLimit) {
    observer_.violation(fmt::format("tenant {} has {} jobs out, its limit is {}",
                                    kLimitedTenant.str(), held, kTenantLimit));
  }
  auto of_tenant = answer_now(
      store_.scan({store::Query::By::kTenant, kLimitedTenant.str(), WallTime::max(), 1000, {}}));
  auto really = std::ranges::count_if(of_tenant->records, job::holds_tenant_slot);
  if (really != held) {
    observer_.violation(fmt::format("tenant {} has {} jobs out and {} slots taken",
                                    kLimitedTenant.str(), really, held));
  }
  // Jobs that the worker has by its own word, or is about to get. One that has ended there, or was
  // lost with an earlier life of the worker, may still hold a slot; it must not count.
  for (auto& worker : workers_) {
    auto out = answer_now(store_.scan(
        {store::Query::By::kWorker, worker->kind().id.str(), WallTime::max(), 1000, {}}));
    auto real = std::ranges::count_if(out->records, [&](const job::Record& record) {
      auto sent = handed_out_at_.find({record.id, record.epoch});
      return !worker->running().contains(record.id.str()) &&
             !worker->has_seen(record.id, record.epoch) && sent != handed_out_at_.end() &&
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

// Whether a job that a worker runs takes one of its slots. Not when the job went on without it:
// it ended, the worker was lost or asked for another try, or policy could not be asked about a
// dispatch that has to be repeated.
bool World::is_ours_to_count(const SimWorker& worker, const JobId& job, Epoch epoch) {
  store::Snapshot record = answer_now(store_.load(job, {}))->record;
  if (!record || job::is_terminal(record->state) || record->state == job::State::kRetrying ||
      record->assignee != worker.kind().id) {
    return false;
  }
  if (job::holds_worker_slot(*record)) return true;
  bool queues = record->wait && !record->wait->wait_class.empty();
  return queues && std::ranges::any_of(record->open_epochs, [&](const job::OpenEpoch& open) {
           return open.epoch == epoch && open.worker == worker.kind().id;
         });
}

bool World::everything_ended() {
  if (!healed_ || bus_.undelivered() > 0) return false;
  for (const auto& [job, submission] : jobs_) {
    auto record = answer_now(store_.load(job, {}))->record;
    if (!record || !job::is_terminal(record->state)) return false;
  }
  uint32_t held = store_.table().tenant_slots(kLimitedTenant);
  if (held > 0) observer_.violation("all jobs have ended and a tenant slot is still held");
  for (auto& worker : workers_) {
    if (store_.table().worker_slots(worker->kind().id) > 0) {
      observer_.violation("all jobs have ended and a worker slot is still held");
    }
  }
  return true;
}

void World::check_liveness() {
  for (const JobId& job : observer_.acknowledged()) {
    auto record = answer_now(store_.load(job, {}))->record;
    if (!record) return observer_.violation(job.str() + " was acknowledged and is lost");
    if (!job::is_terminal(record->state)) {
      return observer_.violation(fmt::format("{} is stuck in {}{}", job.str(),
                                             job::to_string(record->state),
                                             record->publish_pending ? ", unpublished" : ""));
    }
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

// While all is well, nobody waits for long beside a free worker, and no dispatch stays in the dark.
void World::check_wake_ups() {
  if (loop_.now() < quiet_at_) return;
  WallTime now = kWorldBegins + loop_.now().time_since_epoch();
  auto pending =
      answer_now(store_.scan({store::Query::By::kUnpublished, {}, now - kUnpublishedMax, 10, {}}));
  if (!pending->records.empty()) {
    observer_.violation(pending->records[0].id.str() + " is DISPATCHED and nobody publishes it");
  }
  std::map<std::string, MonotonicTime> still;
  for (const store::WaitClassView& view : *answer_now(store_.waiting({}, 1000))) {
    auto wait_class = routing::parse_wait_class(view.wait_class);
    bool room = false;
    for (auto& worker : workers_) {
      routing::WorkerReport report;
      report.id = worker->kind().id;
      report.pool = worker->kind().pool;
      for (const auto& [name, value] : worker->kind().labels) report.labels[name] = value;
      uint32_t slots = store_.table().worker_slots(report.id);
      room = room ||
             (wait_class && routing::fits(*wait_class, report) && worker->alive() &&
              !worker->overloaded() && !worker->died_ever() &&
              !routing::overloaded(static_cast<int32_t>(slots), worker->kind().capacity, 0, 0));
    }
    if (!wait_class) room = store_.table().tenant_slots(kLimitedTenant) < kTenantLimit;
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
