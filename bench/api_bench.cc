// The server from outside: `fairlead up` in a process of its own, jobs over HTTP, workers over the
// NATS protocol, everything durable.
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <deque>
#include <filesystem>
#include <fstream>
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include <fmt/format.h>

#include <boost/asio/steady_timer.hpp>

#include "base/check.h"
#include "bench/benches.h"
#include "bench/own_server.h"
#include "bench/percentile.h"
#include "job/request.h"
#include "tests/load/http_client.h"
#include "tests/load/nats_worker.h"

namespace fairlead::bench {

namespace {

using load::asio::io_context;
using SteadyClock = std::chrono::steady_clock;
using Seconds = std::chrono::duration<double>;
using namespace std::chrono_literals;

// With what stands around it a request of about 400 bytes.
const std::string kBody =
    fmt::format(R"({{"prompt":"{}","topic":"job.default"}})", std::string(300, 'x'));

// --- Accepted jobs, with wrk ---------------------------------------------------------------------

std::string output_of(const std::string& command) {
  std::string output;
  FILE* pipe = popen(command.c_str(), "r");
  check(pipe != nullptr, "a shell can be started");
  char buffer[4096];
  for (size_t size = 0; (size = fread(buffer, 1, sizeof buffer, pipe)) > 0;) {
    output.append(buffer, size);
  }
  check(pclose(pipe) == 0, "wrk runs (Debian package wrk)");
  return output;
}

double number_behind(std::string_view text, std::string_view name) {
  size_t at = text.find(name);
  return at == text.npos ? 0 : std::atof(std::string(text.substr(at + name.size(), 32)).c_str());
}

// "12.34ms", "1.02s", "850.00us" in milliseconds.
double millis_behind(std::string_view text, std::string_view name) {
  size_t at = text.find(name);
  if (at == text.npos) return 0;
  std::string_view rest = text.substr(at + name.size());
  rest = rest.substr(0, rest.find('\n'));
  double value = number_behind(text, name);
  if (rest.ends_with("us")) return value / 1000;
  return rest.ends_with("ms") ? value : value * 1000;
}

void run_submit(BenchReport& report) {
  OwnServer own;
  load::ServerProcess& server = own.server;
  std::ofstream(own.file("post.lua"))
      << "wrk.method = \"POST\"\nwrk.headers[\"Content-Type\"] = \"application/json\"\nwrk.body = '"
      << kBody << "'\n";
  std::string said =
      output_of(fmt::format("wrk -t1 -c128 -d8s --latency -s {} http://127.0.0.1:{}/api/v1/jobs",
                            own.file("post.lua"), server.api()));
  check(!said.contains("Non-2xx or 3xx responses:"), "every job is accepted");
  check(!said.contains("Socket errors:"), "every request is answered");
  report.add("api", "submit", number_behind(said, "Requests/sec:"), "jobs/s",
             {{"p50_ms", millis_behind(said, " 50% ")}, {"p99_ms", millis_behind(said, " 99% ")}});
}

// --- Full lives ----------------------------------------------------------------------------------

class Lives {
 public:
  Lives(const load::ServerProcess& server, int workers, int connections) {
    for (int i = 0; i < workers; ++i) {
      auto on_job = [this](load::NatsWorker& worker, std::string_view packet) {
        work(worker, packet);
      };
      workers_.push_back(std::make_unique<load::NatsWorker>(context_, fmt::format("worker-{}", i),
                                                            "default", 200, on_job));
      check(workers_.back()->connect(server.workers()), "a worker connects");
    }
    for (int i = 0; i < connections; ++i) {
      clients_.push_back(std::make_unique<load::HttpClient>(context_));
      check(clients_.back()->connect(server.api()), "a client connects");
      idle_.push_back(clients_.back().get());
    }
    // Workers that are not heard of yet get no jobs.
    while (
        load::get(server.api(), "/api/v1/workers").find("worker-" + std::to_string(workers - 1)) ==
        std::string::npos) {
      context_.run_for(20ms);
    }
    beat();
  }

  // So many are out at any time.
  void run_in_flight(size_t count, Seconds duration) {
    in_flight_max_ = count;
    auto stop = SteadyClock::now() + duration;
    fill();
    while (SteadyClock::now() < stop) context_.run_for(10ms);
    in_flight_max_ = 0;
  }

  void run_at(double a_second, Seconds duration) {
    auto began = SteadyClock::now();
    uint64_t sent = 0;
    while (SteadyClock::now() - began < duration) {
      auto due = static_cast<uint64_t>(Seconds(SteadyClock::now() - began).count() * a_second);
      for (; sent < due && !idle_.empty(); ++sent) submit();
      context_.run_for(std::chrono::microseconds(200));
    }
  }

  void run_until_answered() {
    auto patience = SteadyClock::now() + 30s;
    while ((answered_ < accepted_ || unanswered_posts() > 0) && SteadyClock::now() < patience) {
      context_.run_for(5ms);
    }
    check(answered_ == accepted_, "every accepted job reaches a worker");
  }

  uint64_t accepted() const { return accepted_; }
  std::vector<double>& to_worker_micros() { return to_worker_micros_; }

 private:
  size_t unanswered_posts() const { return clients_.size() - idle_.size(); }

  void fill() {
    while (!idle_.empty() &&
           unanswered_posts() + accepted_ - std::min(answered_, accepted_) < in_flight_max_) {
      submit();
    }
  }

  void submit() {
    load::HttpClient* client = idle_.front();
    idle_.pop_front();
    auto sent = SteadyClock::now();
    client->post("/api/v1/jobs", kBody, [this, client, sent](int status, std::string_view body) {
      check(status >= 200 && status < 300, "a job is accepted");
      idle_.push_back(client);
      ++accepted_;
      std::string job(load::json_text(body, "job_id"));
      // The worker may have heard of it before its submitter.
      if (auto early = seen_.extract(job)) {
        note(early.mapped() - sent);
      } else {
        sent_.emplace(std::move(job), sent);
      }
      fill();
    });
  }

  void work(load::NatsWorker& worker, std::string_view packet) {
    std::string job(job::peek_job_id(packet));
    if (auto submitted = sent_.extract(job)) {
      note(SteadyClock::now() - submitted.mapped());
    } else {
      seen_.emplace(std::move(job), SteadyClock::now());
    }
    worker.succeed(packet);
    ++answered_;
    fill();
  }

  void note(SteadyClock::duration taken) {
    to_worker_micros_.push_back(std::chrono::duration<double, std::micro>(taken).count());
  }

  void beat() {
    for (auto& worker : workers_) worker->beat();
    timer_.expires_after(5s);
    timer_.async_wait([this](boost::system::error_code error) {
      if (!error) beat();
    });
  }

  io_context context_;
  load::asio::steady_timer timer_{context_};
  std::vector<std::unique_ptr<load::NatsWorker>> workers_;
  std::vector<std::unique_ptr<load::HttpClient>> clients_;
  std::deque<load::HttpClient*> idle_;
  size_t in_flight_max_ = 0;
  uint64_t accepted_ = 0;
  uint64_t answered_ = 0;
  std::unordered_map<std::string, SteadyClock::time_point> sent_;
  std::unordered_map<std::string, SteadyClock::time_point> seen_;
  std::vector<double> to_worker_micros_;
};

// Jobs whose good end is committed, as the server counts them.
uint64_t succeeded(const load::ServerProcess& server) {
  std::string text = load::get(server.metrics(), "/metrics");
  uint64_t sum = 0;
  size_t at = 0;
  while ((at = text.find("jobs_completed_total{", at)) != std::string::npos) {
    size_t end = text.find('\n', at);
    std::string line = text.substr(at, end - at);
    at = end;
    if (!line.contains("\"JOB_STATUS_SUCCEEDED\"")) continue;
    sum += static_cast<uint64_t>(std::atof(line.substr(line.rfind(' ') + 1).c_str()));
  }
  return sum;
}

void run_life(BenchReport& report) {
  OwnServer own;
  load::ServerProcess& server = own.server;
  Lives lives(server, 10, 128);
  lives.run_in_flight(512, 1s);
  lives.run_until_answered();
  uint64_t before = succeeded(server);
  uint64_t accepted_before = lives.accepted();
  lives.to_worker_micros().clear();
  auto began = SteadyClock::now();
  lives.run_in_flight(512, 6s);
  lives.run_until_answered();
  uint64_t jobs = lives.accepted() - accepted_before;
  uint64_t done = 0;
  while ((done = succeeded(server) - before) < jobs && SteadyClock::now() - began < 60s) {
  }
  double seconds = Seconds(SteadyClock::now() - began).count();
  check(done >= jobs, "every accepted job ends well");
  report.add("api", "life", static_cast<double>(jobs) / seconds, "jobs/s",
             {{"to_worker_p50_ms", percentile(lives.to_worker_micros(), 0.5) / 1000},
              {"to_worker_p99_ms", percentile(lives.to_worker_micros(), 0.99) / 1000}});
}

void run_latency(BenchReport& report) {
  OwnServer own;
  load::ServerProcess& server = own.server;
  Lives lives(server, 10, 128);
  lives.run_at(500, 1s);
  lives.run_until_answered();
  lives.to_worker_micros().clear();
  lives.run_at(500, 6s);
  lives.run_until_answered();
  report.add("api", "latency=500/s", percentile(lives.to_worker_micros(), 0.5) / 1000, "ms",
             {{"p99_ms", percentile(lives.to_worker_micros(), 0.99) / 1000},
              {"jobs", static_cast<double>(lives.to_worker_micros().size())}});
}

}  // namespace

void run_api_bench(BenchReport& report) {
  if (report.wants("submit")) run_submit(report);
  if (report.wants("life")) run_life(report);
  if (report.wants("latency=500/s")) run_latency(report);
}

}  // namespace fairlead::bench
