#include "sim/world.h"

#include <algorithm>

#include <fmt/core.h>

#include "job/request.h"
#include "sim/scenery.h"
#include "sim/world_replica.h"

namespace fairlead::sim {

namespace cap = cordum::agent::v1;
using namespace std::chrono_literals;

namespace {

// After healing, everything must have come to an end within this.
constexpr Duration kLivenessMax = 600s;
constexpr Duration kApprovalsEvery = 5s;
constexpr uint64_t kSharedKeys = 2;

}  // namespace

World::World(uint64_t seed, std::function<void(std::string)> trace)
    : random_(seed),
      options_(Options::draw(random_)),
      trace_(std::move(trace)),
      plugs_{loop_,     random_, options_,
             observer_, healed_, [this](std::string text) { say(std::move(text)); }},
      store_process_(loop_, "store", Duration(0)),
      store_(store_process_, options_.store_failovers > 0),
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
  MonotonicTime approvals = loop_.now();
  auto look_through_approvals = [&] {
    if (loop_.now() < approvals) return;
    approvals = loop_.now() + kApprovalsEvery;
    decide_approvals();
  };
  end_of_faults_ = loop_.now() + options_.fault_phase;
  while (loop_.now() < end_of_faults_ && !observer_.violated()) {
    bool long_absence = bus_.is_away() && bus_.back_at() > loop_.now() + 1min;
    loop_.run_for(loop_.now() < down_until_ || long_absence ? Duration(10s) : Duration(100ms));
    look_through_approvals();
    check_always();
  }
  if (!observer_.violated()) heal();
  MonotonicTime last = loop_.now() + kLivenessMax;
  while (!observer_.violated() && !everything_ended()) {
    loop_.run_for(250ms);
    look_through_approvals();
    check_always();
    check_wake_ups();
    if (loop_.now() >= last) check_liveness();
  }
  return {observer_.violated(), observer_.faults(), observer_.transitions(), loop_.steps(),
          loop_.now().time_since_epoch()};
}

void World::set_up() {
  policy_.deny(kDeniedTopic, "simulated: denied");
  observer_.withheld_topic(kDeniedTopic, "was denied");
  job::Decision approval;
  approval.kind = job::Decision::Kind::kRequireApproval;
  policy_.decide(kApprovalTopic, std::move(approval));
  observer_.approval_topic(kApprovalTopic);
  cap::PolicyConstraints limited;
  limited.mutable_budgets()->set_max_concurrent_jobs(kTenantLimit);
  limited.mutable_budgets()->set_max_retries(kRetriesLimit);
  policy_.constrain(kLimitedTopic, limited);
  observer_.limited_topic(kLimitedTopic, kRetriesLimit + 1);

  bus_.on_dispatch = [this](const std::string& subject, const std::string& bytes) {
    cap::BusPacket packet;
    check(packet.ParseFromString(bytes), "a dispatch can be read");
    const cap::JobRequest& request = packet.job_request();
    Epoch epoch(request.dispatch().attempt());
    JobId job(request.job_id());
    WorkerId worker(routing::worker_of_subject(subject));
    say(fmt::format("publish {} epoch {} to {}", job.str(), epoch.value(), worker.str()));
    handed_out_at_[{job, epoch}] = loop_.now();
    observer_.handed_out(job, epoch, worker, answer_now(store_->load(job, {}))->record);
  };

  bus_.on_result_answered = [this](const std::string& packet) {
    JobId job{job::peek_job_id(packet)};
    observer_.answered(packet, answer_now(store_->load(job, {}))->record);
  };
  bus_.on_lost = [this](const std::string& subject, const std::string& packet) {
    const JobId job{job::peek_job_id(packet)};
    say(fmt::format("the stream loses a message on {} of {}", subject, job.str()));
    const bool admitted = answer_now(store_->load(job, {}))->record != nullptr;
    if (subject == bus::kSubmitSubject && !admitted) observer_.submit_lost(job);
  };
  bus_.on_dead_letter = [this](const std::string& packet) {
    observer_.dead_letter_told(JobId{job::peek_job_id(packet)});
  };
  observer_.store_time = [this]() -> std::optional<WallTime> {
    if (options_.store_clock_steps > 0) return std::nullopt;
    return store_process_.wall();
  };
  observer_.surely_lives = [this](const WorkerId& id) {
    return std::ranges::any_of(workers_, [&](const auto& worker) {
      return worker->kind().id == id && worker->surely_lives();
    });
  };

  for (int i = 0; i < options_.workers; ++i) {
    SimWorker::Kind kind;
    kind.id = WorkerId(fmt::format("w{}", i));
    kind.pool = PoolName(i % 3 == 2 ? "gpu" : i % 3 == 1 ? "spare" : "main");
    kind.capacity = 1 + static_cast<int>(random_.below(3));
    // Every pool has one, so that every job can be placed in the end.
    if (i < 3 || random_.chance(2)) {
      kind.labels["node.zone"] = "eu";
      for (uint64_t k = 0; k < options_.placements; ++k) kind.labels[placement_label(k)] = "1";
    }
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
  switch (random_.below(15)) {
    case 0:
      request.set_topic(kDeniedTopic.str());
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
      request.set_topic(kLimitedTopic.str());
      request.set_tenant_id(kLimitedTenant.str());
      break;
    case 7:
    case 8:
      request.set_topic("job.both");
      break;
    case 9:
      request.set_topic(kApprovalTopic.str());
      break;
    case 10:
    case 11:
      request.set_topic(kFickleTopic.str());
      break;
    default:
      request.set_topic("job.plain");
      break;
  }
  if (random_.chance(6)) (*request.mutable_labels())["node.zone"] = "eu";
  if (options_.placements > 0 && random_.chance(2)) {
    (*request.mutable_labels())[placement_label(random_.below(options_.placements))] = "1";
  }
  if (random_.chance(8)) (*request.mutable_labels())["preferred_worker_id"] = "w0";
  if (random_.chance(3)) (*request.mutable_labels())["retry_on_worker_loss"] = "true";
  if (random_.chance(10)) request.mutable_budget()->set_deadline_ms(15'000);
  if (random_.chance(10)) {
    const bool shared = random_.chance(2);
    const std::string key =
        shared ? fmt::format("shared-{}", random_.below(kSharedKeys)) : job.str();
    request.mutable_meta()->set_idempotency_key(key);
    keys_[job] = {job::new_record(request, {}, {}).tenant, key};
    if (shared) observer_.count_fault("key shared");
  }
  return request;
}

void World::submit_jobs() {
  for (int i = 0; i < options_.jobs; ++i) {
    JobId job(fmt::format("job-{}", i));
    cap::BusPacket packet;
    packet.set_trace_id("trace-" + job.str());
    packet.set_sender_id("client");
    *packet.mutable_job_request() = make_request(job);
    jobs_[job] = job::serialise(packet);

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
        cancel(job);
      });
    }
  }
}

void World::cancel(const JobId& job) {
  cap::BusPacket packet;
  packet.set_trace_id("cancel");
  packet.set_sender_id("client");
  packet.mutable_job_cancel()->set_job_id(job.str());
  bus_.publish(std::string(bus::kCancelSubject), job::serialise(packet));
}

void World::submit(const JobId& job) {
  observer_.submitted(job);
  bus_.publish(std::string(bus::kSubmitSubject), jobs_[job]);
  observer_.acknowledged(job);
}

}  // namespace fairlead::sim
