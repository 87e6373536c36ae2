#include "tests/chaos/worker_process.h"

#include <deque>
#include <fstream>
#include <map>
#include <memory>
#include <sstream>
#include <vector>

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <boost/asio/steady_timer.hpp>

#include "base/check.h"
#include "runtime/random.h"
#include "tests/chaos/aftermath.h"
#include "tests/load/nats_worker.h"
#include "tests/load/reactor.h"

namespace fairlead::chaos {

namespace {

using namespace std::chrono_literals;
using SteadyClock = std::chrono::steady_clock;

// Most jobs take a moment, some take longer than many a fault.
constexpr uint64_t kLongOneIn = 50;
constexpr Duration kLong = 4s;
constexpr Duration kShort = 300ms;

class WorkerProcess {
 public:
  explicit WorkerProcess(const WorkerOptions& options)
      : options_(options),
        ledger_(::open(options.ledger.c_str(), O_CREAT | O_WRONLY | O_APPEND | O_CLOEXEC, 0600)) {
    check(ledger_ >= 0, "the ledger can be written");
    for (int i = 0; i < options.workers; ++i) {
      auto worker = std::make_unique<load::NatsWorker>(
          context_, fmt::format("{}-{}", options.name, i), "default", options.capacity,
          [this](load::NatsWorker& self, std::string_view packet) { take(self, packet); });
      const std::string id = worker->id();
      worker->on_stored([this, id](std::string_view job, uint64_t) {
        const auto epoch = answered_.extract({id, std::string(job)});
        if (epoch) note('R', id, std::string(job), epoch.mapped());
      });
      workers_.push_back(std::move(worker));
    }
  }

  [[noreturn]] void run() {
    auto beat_at = SteadyClock::now();
    while (true) {
      context_.run_for(5ms);
      finish_due();
      if (SteadyClock::now() < beat_at) continue;
      beat_at = SteadyClock::now() + 1s;
      beat();
    }
  }

 private:
  struct Job {
    load::NatsWorker* worker;
    std::string packet;
  };

  // Written with one call, so that it is in the file when this returns, and whole.
  void note(char what, const std::string& worker, const std::string& job, uint64_t epoch) {
    const std::string line =
        fmt::format("{} {} {} {} {}\n", what, now_micros(), worker, job, epoch);
    check(::write(ledger_, line.data(), line.size()) == static_cast<ssize_t>(line.size()),
          "the ledger can be written");
  }

  void take(load::NatsWorker& worker, std::string_view packet) {
    const auto [job, epoch] = dispatch_of(packet);
    note('D', worker.id(), job, epoch);
    const Duration takes =
        random_.between(Duration(0), random_.chance(kLongOneIn) ? kLong : kShort);
    held_.emplace(SteadyClock::now() + takes, Job{&worker, std::string(packet)});
    ++active_[&worker];
  }

  void finish_due() {
    while (!held_.empty() && held_.begin()->first <= SteadyClock::now()) {
      const auto& [worker, packet] = held_.begin()->second;
      const auto [job, epoch] = dispatch_of(packet);
      if (options_.jetstream) {
        answered_[{worker->id(), job}] = epoch;
        worker->succeed_surely(packet);
      } else {
        worker->succeed(packet);
      }
      --active_[worker];
      held_.erase(held_.begin());
    }
  }

  void beat() {
    for (auto& worker : workers_) {
      if (!worker->connected() && !worker->connect(options_.nats)) continue;
      worker->beat(active_[worker.get()]);
      worker->tell_again();
    }
  }

  const WorkerOptions& options_;
  int ledger_;
  load::Reactor context_;
  SystemRandom random_;
  std::vector<std::unique_ptr<load::NatsWorker>> workers_;
  std::multimap<SteadyClock::time_point, Job> held_;  // by when they are done
  std::map<load::NatsWorker*, int> active_;
  std::map<std::pair<std::string, std::string>, uint64_t> answered_;
};

}  // namespace

void run_workers(const WorkerOptions& options) {
  WorkerProcess(options).run();
}

Micros now_micros() {
  using namespace std::chrono;
  return duration_cast<microseconds>(system_clock::now().time_since_epoch()).count();
}

std::uintmax_t read_ledger(const std::filesystem::path& file, std::uintmax_t from,
                           Evidence& evidence) {
  std::ifstream in(file);
  in.seekg(static_cast<std::streamoff>(from));
  for (std::string line; std::getline(in, line) && !in.eof();) {
    from += line.size() + 1;
    std::istringstream words(line);
    char what = 0;
    Delivery seen;
    words >> what >> seen.at >> seen.worker >> seen.job >> seen.epoch;
    if (!words) continue;
    if (what == 'D') evidence.deliveries.push_back(seen);
    if (what == 'R') evidence.results.push_back({seen.job, seen.epoch, seen.at});
  }
  return from;
}

}  // namespace fairlead::chaos
