#include "tests/cluster/kill_round.h"

#include <algorithm>
#include <chrono>
#include <deque>
#include <map>
#include <memory>
#include <set>
#include <vector>

#include <fmt/format.h>

#include <boost/asio/steady_timer.hpp>

#include "base/check.h"
#include "cordum/agent/v1/buspacket.pb.h"
#include "job/request.h"
#include "tests/cluster/replica_process.h"
#include "tests/load/http_client.h"
#include "tests/load/nats_worker.h"
#include "tests/load/reactor.h"

namespace fairlead::cluster {

namespace {

using namespace std::chrono_literals;
using WallClock = std::chrono::system_clock;
using Moment = WallClock::time_point;
namespace cap = cordum::agent::v1;

constexpr auto kAway = 3s;
constexpr auto kTick = 10ms;
constexpr int kWorkers = 10;
constexpr int kClients = 32;
constexpr auto kPatience = 120s;
constexpr double kStallSecondsMax = 15;
// Nothing more is awaited of jobs that have not moved for so long. Those whose result can only have
// been lost are not awaited as long.
constexpr auto kQuiet = 20s;
constexpr auto kQuietAfterLoss = 3s;

// What was seen of one job from outside.
struct Seen {
  Moment submitted;  // that of the request which was acknowledged
  std::vector<uint64_t> epochs;
  Moment delivered;  // for the first time
  Moment answered;   // for the first time
  bool acknowledged = false;
};

struct Stored {
  std::string state;
  Moment updated;
};

class KillRound {
 public:
  explicit KillRound(const KillOptions& options) : options_(options), servers_(options.jetstream) {
    for (int i = 0; i < options.replicas; ++i) start_replica();
    add_workers();
    add_bus_submitter();
    for (int i = 0; i < kClients; ++i) {
      clients_.push_back(std::make_unique<load::HttpClient>(context_));
      idle_.push_back(clients_.back().get());
      connected_to_.emplace(clients_.back().get(), nullptr);
    }
    beat();
    tick();
  }

  KillReport run() {
    run_until([&] { return held_.size() >= options_.in_flight; }, "so many are in flight");
    releasing_ = true;
    run_until([&] { return answered_ >= options_.in_flight / 4; }, "workers answer");
    replicas_.front()->kill();
    killed_ = WallClock::now();
    ready_ = killed_;
    replicas_.erase(replicas_.begin());
    if (replicas_.empty()) {
      context_.run_for(kAway);
      start_replica();
      ready_ = WallClock::now();
    }
    run_until([&] { return acknowledged_ >= options_.jobs && held_.empty(); }, "all are taken");
    submitting_ = false;
    settle();
    return report();
  }

 private:
  void start_replica() {
    replicas_.push_back(
        std::make_unique<ReplicaProcess>(servers_, fmt::format("replica-{}", ++started_),
                                         std::vector<std::string>{"--log-level", "error"}));
  }

  void add_workers() {
    // Nine tenths of its capacity is what a worker is given at the most.
    const int capacity = static_cast<int>(options_.in_flight * 4) / kWorkers + 1;
    for (int i = 0; i < kWorkers; ++i) {
      workers_.push_back(std::make_unique<load::NatsWorker>(
          context_, fmt::format("worker-{}", i), "default", capacity,
          [this](load::NatsWorker& worker, std::string_view packet) { work(worker, packet); }));
      check(workers_.back()->connect(servers_.nats.port()), "a worker connects");
    }
  }

  void add_bus_submitter() {
    bus_.subscribe("_INBOX.submits.*", [this](const load::NatsMessage& answer) {
      check(!answer.payload.contains("\"error\""), "a submit is stored");
      acknowledge(std::string(answer.subject.substr(answer.subject.rfind('.') + 1)));
    });
    check(bus_.connect(servers_.nats.port()), "the submitter connects");
  }

  template <class Reached>
  void run_until(Reached reached, const char* what) {
    const auto patience = WallClock::now() + kPatience;
    while (!reached()) {
      check(WallClock::now() < patience, what);
      context_.run_for(kTick);
    }
  }

  // --- Submitting
  // ---------------------------------------------------------------------------------

  // Every second job goes over the bus where a stream keeps it.
  void fill() {
    while (submitting_ && asked_ < options_.jobs && asked_ < answered_ + options_.in_flight) {
      const bool over_bus = options_.jetstream && asked_ % 2 == 1;
      if (over_bus) {
        submit_over_bus();
      } else if (!submit_over_api()) {
        return;
      }
      ++asked_;
    }
  }

  void submit_over_bus() {
    const std::string job = fmt::format("over-bus-{}", ++over_bus_);
    seen_[job].submitted = WallClock::now();
    cap::BusPacket packet;
    packet.set_trace_id("kill-round");
    packet.set_sender_id("kill-round");
    packet.set_protocol_version(1);
    packet.mutable_job_request()->set_job_id(job);
    packet.mutable_job_request()->set_topic("job.default");
    packet.mutable_job_request()->set_tenant_id("default");
    bus_.publish("sys.job.submit", job::serialise(packet), "_INBOX.submits." + job);
  }

  // False: nobody takes it now.
  bool submit_over_api() {
    if (idle_.empty() || replicas_.empty()) return false;
    load::HttpClient* client = idle_.front();
    ReplicaProcess* wanted = replicas_[next_replica_++ % replicas_.size()].get();
    if (ReplicaProcess*& connected = connected_to_[client]; connected != wanted) {
      if (!client->connect(wanted->api())) return false;
      connected = wanted;
    }
    idle_.pop_front();
    const Moment sent = WallClock::now();
    client->post("/api/v1/jobs", R"({"prompt":"x","topic":"job.default"})",
                 [this, client, sent](int status, std::string_view body) {
                   idle_.push_back(client);
                   if (status < 200 || status >= 300) {
                     // It may be there or not; another is asked for in its place.
                     connected_to_[client] = nullptr;
                     --asked_;
                     return;
                   }
                   const std::string job(load::json_text(body, "job_id"));
                   seen_[job].submitted = sent;
                   acknowledge(job);
                 });
    return true;
  }

  void acknowledge(const std::string& job) {
    seen_[job].acknowledged = true;
    ++acknowledged_;
  }

  // --- Workers
  // ------------------------------------------------------------------------------------

  void work(load::NatsWorker& worker, std::string_view packet) {
    cap::DispatchIdentity identity;
    identity.ParseFromString(std::string(load::dispatch_identity(packet)));
    Seen& seen = seen_[std::string(job::peek_job_id(packet))];
    if (seen.epochs.empty()) seen.delivered = WallClock::now();
    seen.epochs.push_back(identity.attempt());
    held_.emplace_back(&worker, std::string(packet));
  }

  // All that are in flight are given back within about two seconds.
  void tick() {
    const size_t share = options_.in_flight / 200 + 1;
    for (size_t i = 0; i < share && releasing_ && !held_.empty(); ++i) {
      const auto& [worker, packet] = held_.front();
      Seen& seen = seen_[std::string(job::peek_job_id(packet))];
      if (seen.answered == Moment{}) seen.answered = WallClock::now();
      worker->succeed(packet);
      held_.pop_front();
      ++answered_;
    }
    fill();
    tick_timer_.expires_after(kTick);
    tick_timer_.async_wait([this](boost::system::error_code error) {
      if (!error) tick();
    });
  }

  void beat() {
    for (auto& worker : workers_) worker->beat();
    beat_timer_.expires_after(2s);
    beat_timer_.async_wait([this](boost::system::error_code error) {
      if (!error) beat();
    });
  }

  // --- What became of them
  // ------------------------------------------------------------------------

  Stored look_up(const std::string& job) {
    const auto found = servers_.redis.ask({"HMGET", "job:meta:" + job, "state", "updated_at"});
    const auto micros = std::chrono::microseconds(load::number_in(found.items[1].text));
    return {found.items[0].text, Moment(micros)};
  }

  static bool has_ended(const Stored& job) {
    return job.state == "SUCCEEDED" || job.state == "FAILED" || job.state == "TIMEOUT" ||
           job.state == "DENIED" || job.state == "CANCELLED";
  }

  // Until all that were acknowledged have ended, or nothing has moved for long.
  void settle() {
    std::set<std::string> open;
    for (const auto& [job, seen] : seen_) {
      if (seen.acknowledged) open.insert(job);
    }
    auto moved = WallClock::now();
    auto quiet = [&] {
      const bool lost = !options_.jetstream && std::ranges::all_of(open, [this](const auto& job) {
        return seen_[job].answered != Moment{};
      });
      return lost ? kQuietAfterLoss : kQuiet;
    };
    while (!open.empty() && WallClock::now() < moved + quiet()) {
      context_.run_for(200ms);
      if (std::erase_if(open, [this](const auto& job) { return has_ended(look_up(job)); }) > 0) {
        moved = WallClock::now();
      }
    }
  }

  KillReport report() {
    KillReport report;
    for (const auto& [job, seen] : seen_) {
      const std::set<uint64_t> epochs(seen.epochs.begin(), seen.epochs.end());
      report.repeated_epochs += seen.epochs.size() - epochs.size();
      if (epochs.size() > 1) ++report.run_again;
      if (!seen.acknowledged) continue;
      ++report.acknowledged;
      const Stored stored = look_up(job);
      if (stored.state.empty()) {
        ++report.lost;
      } else if (seen.epochs.empty()) {
        ++report.undelivered;
      } else if (!has_ended(stored)) {
        ++report.results_lost;
      } else if (stored.state == "SUCCEEDED") {
        ++report.succeeded;
      } else {
        ++report.ended_badly;
      }
      if (!seen.epochs.empty()) note_stall(report, job, seen.submitted, seen.delivered);
      if (stored.state == "SUCCEEDED") note_stall(report, job, seen.answered, stored.updated);
    }
    return report;
  }

  void note_stall(KillReport& report, const std::string& job, Moment from, Moment to) const {
    const auto away =
        std::max(WallClock::duration(0), std::min(to, ready_) - std::max(from, killed_));
    const double seconds = std::chrono::duration<double>(to - from - away).count();
    if (seconds <= report.longest_stall_s) return;
    report.longest_stall_s = seconds;
    report.longest_stalled = job;
  }

  const KillOptions options_;
  Servers servers_;
  load::Reactor context_;
  load::asio::steady_timer tick_timer_{context_};
  load::asio::steady_timer beat_timer_{context_};
  std::vector<std::unique_ptr<ReplicaProcess>> replicas_;
  std::vector<std::unique_ptr<load::NatsWorker>> workers_;
  load::NatsClient bus_{context_, "submits"};
  std::vector<std::unique_ptr<load::HttpClient>> clients_;
  std::deque<load::HttpClient*> idle_;
  std::map<load::HttpClient*, ReplicaProcess*> connected_to_;
  size_t started_ = 0;
  size_t next_replica_ = 0;
  size_t over_bus_ = 0;

  std::map<std::string, Seen> seen_;
  std::deque<std::pair<load::NatsWorker*, std::string>> held_;
  bool submitting_ = true;
  bool releasing_ = false;
  size_t asked_ = 0;  // less those that must be asked for again
  size_t acknowledged_ = 0;
  size_t answered_ = 0;
  Moment killed_, ready_;
};

}  // namespace

std::string KillReport::text() const {
  return fmt::format(
      "{} acknowledged: {} succeeded, {} lost, {} never with a worker, {} results lost, {} ended "
      "otherwise; {} run again, {} epochs handed out twice; longest stall {:.1f} s",
      acknowledged, succeeded, lost, undelivered, results_lost, ended_badly, run_again,
      repeated_epochs, longest_stall_s);
}

KillReport run_kill_round(const KillOptions& options) {
  return KillRound(options).run();
}

std::string broken_promise(const KillOptions& options, const KillReport& report) {
  const size_t may_go_on = options.jetstream ? 0 : report.results_lost;
  if (report.lost > 0) return "jobs were lost: " + report.text();
  if (report.succeeded + may_go_on != report.acknowledged) {
    return "not all succeeded: " + report.text();
  }
  if (report.repeated_epochs > 0) return "epochs were handed out twice: " + report.text();
  if (report.longest_stall_s > kStallSecondsMax) {
    return fmt::format("{} stood still for too long: {}", report.longest_stalled, report.text());
  }
  return {};
}

}  // namespace fairlead::cluster
