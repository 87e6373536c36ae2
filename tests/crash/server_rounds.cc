#include "tests/crash/server_rounds.h"

#include <algorithm>
#include <chrono>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <memory>
#include <optional>
#include <set>
#include <sstream>
#include <vector>

#include <fcntl.h>
#include <fmt/format.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <boost/asio/steady_timer.hpp>

#include "base/check.h"
#include "cordum/agent/v1/common.pb.h"
#include "job/request.h"
#include "runtime/random.h"
#include "tests/load/http_client.h"
#include "tests/load/nats_worker.h"
#include "tests/load/reactor.h"
#include "tests/load/server_process.h"

extern char** environ;

namespace fairlead::crash {

namespace {

using SteadyClock = std::chrono::steady_clock;
using namespace std::chrono_literals;

constexpr int kWorkers = 47;
constexpr int kOwnWorkers = 3;
constexpr int kSubmitters = 16;
// One job in so many goes to `fairlead worker`, which starts a program for each.
constexpr uint64_t kOwnEvery = 20;
// What is promised to who stops a server.
constexpr auto kStopWithin = 10s;

constexpr const char* kPools = R"(topics:
  job.default: default
  job.own: own
pools:
  default: {}
  own: {}
)";

// `fairlead worker`: it writes down every run.
class OwnWorker {
 public:
  OwnWorker(const load::ServerProcess& server, int number, const std::string& runs,
            const std::string& log) {
    std::vector<std::string> words = {
        load::fairlead_program(),
        "worker",
        "--pool",
        "own",
        "--id",
        fmt::format("own-{}", number),
        "--parallel",
        "4",
        "--server",
        fmt::format("nats://127.0.0.1:{}", server.workers()),
        "--payloads",
        fmt::format("redis://127.0.0.1:{}", server.payloads()),
        "--",
        "sh",
        "-c",
        fmt::format("echo $FAIRLEAD_JOB_ID $FAIRLEAD_EPOCH >> {}; echo done", runs),
    };
    std::vector<char*> arguments;
    for (std::string& word : words) arguments.push_back(word.data());
    arguments.push_back(nullptr);
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, log.c_str(),
                                     O_WRONLY | O_CREAT | O_APPEND, 0644);
    posix_spawn_file_actions_adddup2(&actions, STDERR_FILENO, STDOUT_FILENO);
    int failed = posix_spawn(&pid_, words[0].c_str(), &actions, nullptr, arguments.data(), environ);
    posix_spawn_file_actions_destroy(&actions);
    check(failed == 0, "fairlead worker starts");
  }
  ~OwnWorker() {
    kill(pid_, SIGKILL);
    waitpid(pid_, nullptr, 0);
  }
  OwnWorker(const OwnWorker&) = delete;
  OwnWorker& operator=(const OwnWorker&) = delete;

 private:
  pid_t pid_ = -1;
};

class Rounds {
 public:
  Rounds(const ServerRounds& options, std::string folder)
      : options_(options), folder_(std::move(folder)), random_(options.seed) {
    std::ofstream(folder_ + "/pools.yaml") << kPools;
    for (int i = 0; i < kWorkers; ++i) {
      workers_.push_back(std::make_unique<load::NatsWorker>(
          context_, fmt::format("worker-{}", i), "default", 10,
          [this](load::NatsWorker& worker, std::string_view packet) { work(worker, packet); }));
    }
  }

  void run(ServerSummary& summary) {
    while (summary.killed < options_.rounds && summary.fault.empty()) {
      // A stop after each kill but the last.
      const bool killing = summary.killed == summary.stopped;
      round_ended_by([&] { killing ? server_->kill() : stop_under_load(); });
      ++(killing ? summary.killed : summary.stopped);
      summary.fault = fault_;
      if (options_.verbose && killing && summary.killed % 10 == 0) {
        fmt::print(stderr, "{} of {} kills, {} jobs accepted, {} epochs handed out\n",
                   summary.killed, options_.rounds, accepted_.size(), handed_out_.size());
      }
    }
    if (summary.fault.empty()) {
      start();
      settle();
      summary.fault = fault_;
    }
    if (summary.fault.empty()) summary.fault = check_own_runs(summary);
    summary.accepted = accepted_.size();
    summary.handed_out = handed_out_.size();
    own_.clear();
    if (summary.fault.empty() && server_->stop() != 0)
      summary.fault = "SIGTERM: not a clean exit\n";
  }

 private:
  template <class F>
  void round_ended_by(F end) {
    start();
    const auto end_at = SteadyClock::now() + std::chrono::milliseconds(200 + random_.below(700));
    submitting_ = true;
    std::vector<std::unique_ptr<load::HttpClient>> submitters;
    for (int i = 0; i < kSubmitters; ++i) {
      submitters.push_back(std::make_unique<load::HttpClient>(context_));
      check(submitters.back()->connect(server_->api()), "the API takes connections");
      submit(*submitters.back());
    }
    while (SteadyClock::now() < end_at) context_.run_for(5ms);
    end();
    submitting_ = false;
    hear_the_rest();
  }

  void start() {
    stopping_ = false;
    server_ = std::make_unique<load::ServerProcess>(
        load::fairlead_program(), folder_ + "/data", folder_ + "/server.log",
        std::vector<std::string>{"--pools", folder_ + "/pools.yaml", "--rate-limit", "0",
                                 "--public-rate-limit", "0", "--log-level", "error"},
        ports_);
    ports_ = {.workers = server_->workers(), .payloads = server_->payloads()};
    for (auto& worker : workers_) {
      check(worker->connect(server_->workers()), "the worker listener takes connections");
    }
    while (own_.size() < kOwnWorkers) {
      own_.push_back(std::make_unique<OwnWorker>(*server_, static_cast<int>(own_.size()),
                                                 folder_ + "/runs", folder_ + "/workers.log"));
    }
  }

  // Clients and workers go on meanwhile.
  void stop_under_load() {
    stopping_ = true;
    server_->ask_to_stop();
    const auto patience = SteadyClock::now() + kStopWithin;
    std::optional<int> status;
    while (!(status = server_->exit_status()) && SteadyClock::now() < patience) {
      context_.run_for(1ms);
    }
    if (!status) {
      fault_ += "SIGTERM: it has not ended in time\n";
      server_->kill();
    } else if (*status != 0) {
      fault_ += fmt::format("SIGTERM: it ended with {}\n", *status);
    }
  }

  // What the system took before the end reaches those who live.
  void hear_the_rest() {
    auto patience = SteadyClock::now() + 30s;
    auto connected = [](const auto& worker) { return worker->connected(); };
    while (std::ranges::any_of(workers_, connected)) {
      check(SteadyClock::now() < patience, "the connections of a server that is gone end");
      context_.run_for(1ms);
    }
  }

  void submit(load::HttpClient& client) {
    bool own = ++submitted_ % kOwnEvery == 0;
    std::string body =
        fmt::format(R"({{"prompt":"round","topic":"{}"}})", own ? "job.own" : "job.default");
    client.post("/api/v1/jobs", body, [this, &client](int status, std::string_view answer) {
      if (status == 0) return;                 // gone: it may or may not be there
      if (status == 503 && stopping_) return;  // told to go elsewhere
      if (status < 200 || status >= 300) {
        fault_ += fmt::format("a submit was answered with {}: {}\n", status, answer);
        return;
      }
      accepted_.insert(std::string(load::json_text(answer, "job_id")));
      if (submitting_) submit(client);
    });
  }

  void work(load::NatsWorker& worker, std::string_view packet) {
    cordum::agent::v1::DispatchIdentity identity;
    identity.ParseFromString(std::string(load::dispatch_identity(packet)));
    std::string job(job::peek_job_id(packet));
    if (!handed_out_.emplace(job, identity.attempt()).second) {
      fault_ += fmt::format("epoch {} of {} was handed out twice\n", identity.attempt(), job);
    }
    worker.succeed_surely(packet);
  }

  // Waits until every accepted job has ended, and looks at how.
  void settle() {
    auto patience = SteadyClock::now() + 120s;
    auto beat = SteadyClock::now();
    std::set<std::string> open = accepted_;
    while (!open.empty() && fault_.empty()) {
      for (auto job = open.begin(); job != open.end();) {
        context_.run_for(std::chrono::microseconds(200));
        if (SteadyClock::now() > beat) {
          for (auto& worker : workers_) worker->beat();
          beat = SteadyClock::now() + 3s;
        }
        std::string answer = load::get(server_->api(), "/api/v1/jobs/" + *job);
        std::string state(load::json_text(answer, "state"));
        if (state == "SUCCEEDED") {
          job = open.erase(job);
          continue;
        }
        bool waits = state == "PENDING" || state == "SCHEDULED" || state == "DISPATCHED" ||
                     state == "RUNNING" || state == "RETRYING";
        if (!waits) {
          fault_ += fmt::format("{} was accepted and is {}: {}\n", *job,
                                state.empty() ? "not there" : state, answer);
          break;
        }
        if (SteadyClock::now() > patience) {
          fault_ += fmt::format("{} of {} jobs have not ended, the first is {}: {}\n", open.size(),
                                accepted_.size(), *job, answer);
          break;
        }
        ++job;
      }
      context_.run_for(50ms);
    }
  }

  std::string check_own_runs(ServerSummary& summary) {
    std::ifstream file(folder_ + "/runs");
    std::set<std::string> run;
    std::string job;
    for (uint64_t epoch = 0; file >> job >> epoch; ++summary.own_runs) {
      if (!run.insert(job).second) return job + " was run twice by fairlead worker\n";
      if (!handed_out_.emplace(job, epoch).second) {
        return fmt::format("epoch {} of {} was handed out twice\n", epoch, job);
      }
    }
    return summary.own_runs == 0 ? "fairlead worker ran nothing\n" : "";
  }

  const ServerRounds& options_;
  std::string folder_;
  SeededRandom random_;
  load::Reactor context_;
  load::ServerPorts ports_;
  std::unique_ptr<load::ServerProcess> server_;
  std::vector<std::unique_ptr<load::NatsWorker>> workers_;
  std::vector<std::unique_ptr<OwnWorker>> own_;
  bool submitting_ = false;
  bool stopping_ = false;  // the server was told to
  uint64_t submitted_ = 0;
  std::set<std::string> accepted_;
  std::set<std::pair<std::string, uint64_t>> handed_out_;
  std::string fault_;
};

}  // namespace

ServerSummary run_server_rounds(const ServerRounds& options) {
  std::string folder = (std::filesystem::temp_directory_path() / "fairlead-crash-XXXXXX").string();
  check(mkdtemp(folder.data()) != nullptr, "a folder can be made");
  ServerSummary summary;
  summary.folder = folder;
  Rounds(options, folder).run(summary);
  if (summary.fault.empty()) std::filesystem::remove_all(folder);
  return summary;
}

}  // namespace fairlead::crash
