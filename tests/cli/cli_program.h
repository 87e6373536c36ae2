// For tests: the verbs as a process of their own, against the core over its HTTP server.
#pragma once

#include <filesystem>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include <gmock/gmock.h>

#include "cordum/agent/v1/buspacket.pb.h"
#include "edge/http/server_fixture.h"
#include "job/request.h"
#include "tests/edge/child.h"

namespace fairlead::http {

namespace fs = std::filesystem;
namespace cap = cordum::agent::v1;
using Words = std::vector<std::string>;

struct Ran {
  int exit_code = 0;
  std::string output;  // of both streams
};

inline Ran run_at(const std::string& url, const std::string& program, Words words,
                  std::map<std::string, std::string> variables = {}) {
  words.insert(words.begin(), (fs::read_symlink("/proc/self/exe").parent_path() / program));
  variables.insert({{"FAIRLEAD_API", url}, {"CORDUM_GATEWAY", url}});
  edge::Child child(words, variables);
  child.close_input();
  Ran ran;
  ran.exit_code = child.wait();
  ran.output = child.output();
  return ran;
}

class CliProgram : public ServerTest {
 protected:
  CliProgram() { start(); }

  Ran run(Words words) {
    return run_at("http://127.0.0.1:" + std::to_string(port_), "cli_program", std::move(words));
  }
  Ran cordumctl(Words words) {
    return run_at("http://127.0.0.1:" + std::to_string(port_), "cordumctl", std::move(words));
  }
  // The first line: an id.
  static std::string first_line(const Ran& ran) {
    return ran.output.substr(0, ran.output.find('\n'));
  }

  // A worker whose jobs all end so, with a result if there is one.
  void start_worker(cap::JobStatus status, const std::string& message = {},
                    const std::string& stored = {}) {
    join([this, status, message, stored](bus::Delivery delivery) -> Task<bus::Verdict> {
      cap::BusPacket request, answer;
      request.ParseFromString(std::string(delivery.payload.begin(), delivery.payload.end()));
      cap::JobResult& result = *answer.mutable_job_result();
      result.set_job_id(request.job_request().job_id());
      result.set_worker_id("w1");
      result.set_status(status);
      result.set_error_message(message);
      const std::string key = "res:" + result.job_id();
      if (!stored.empty()) {
        (void)co_await store_.put_blob(key, {stored, clock_.wall() + std::chrono::hours(1)},
                                       store::BlobCondition::kAlways);
        result.set_result_ptr("redis://" + key);
      }
      publish(bus::kResultSubject, answer);
      co_return bus::Verdict::ack();
    });
  }
  // One that never ends a job.
  void start_silent_worker() {
    join([](bus::Delivery) -> Task<bus::Verdict> { co_return bus::Verdict::ack(); });
  }
  void join(bus::Handler take, const std::string& pool = "default") {
    on_loop([&] {
      subscription_ = bus_->subscribe("worker.w1.jobs", {}, std::move(take)).value();
      cap::BusPacket packet;
      cap::Heartbeat& heartbeat = *packet.mutable_heartbeat();
      heartbeat.set_worker_id("w1");
      heartbeat.set_pool(pool);
      heartbeat.set_max_parallel_jobs(4);
      publish(bus::kHeartbeatSubject, packet);
      return true;
    });
  }
  void stop_worker() {
    on_loop([&] {
      subscription_.reset();
      (void)bus_->publish(std::string(bus::kWorkerGoneSubject), "w1", {});
      return true;
    });
  }
  void publish(std::string_view subject, cap::BusPacket packet) {
    packet.set_trace_id("trace");
    packet.set_sender_id("w1");
    packet.set_protocol_version(1);
    (void)bus_->publish(std::string(subject), job::serialise(packet), {});
  }
  void TearDown() override {
    on_loop([&] {
      subscription_.reset();
      return true;
    });
  }

  std::unique_ptr<bus::Subscription> subscription_;
};

}  // namespace fairlead::http
