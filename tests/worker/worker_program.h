// For tests: `fairlead worker` as a process of its own, against the embedded core over real
// sockets.
#pragma once

#include <csignal>
#include <filesystem>
#include <fstream>
#include <list>
#include <map>
#include <string>
#include <vector>

#include "tests/edge/child.h"
#include "tests/worker/embedded_server.h"

namespace fairlead {

namespace fs = std::filesystem;
using job::State;
using Words = std::vector<std::string>;
using Variables = std::map<std::string, std::string>;

inline std::string worker_program() {
  return (fs::read_symlink("/proc/self/exe").parent_path() / "worker_program").string();
}

// Until the worker has said a line with the text.
inline void await_line(edge::Child& worker, const std::string& text) {
  for (;;) {
    const std::string line = worker.line();
    if (line.find(text) != line.npos) return;
    ASSERT_FALSE(line.empty()) << "the worker ended: " << worker.output();
  }
}

class WorkerProgram : public testing::Test {
 protected:
  WorkerProgram() {
    folder_ = fs::path(testing::TempDir()) / ("worker-" + std::to_string(::getpid()));
    fs::create_directories(folder_);
  }
  ~WorkerProgram() override { fs::remove_all(folder_); }

  std::string nats_url(const std::string& who = {}) const {
    return "nats://" + who + "127.0.0.1:" + std::to_string(server_.nats_port());
  }
  std::string redis_url() const {
    return "redis://127.0.0.1:" + std::to_string(server_.resp_port());
  }

  // A worker with these flags; it need not connect.
  edge::Child& launch(Words flags, const std::string& script, Variables variables = {}) {
    flags.insert(flags.begin(), {worker_program(), "--pool", "default"});
    flags.insert(flags.end(), {"--", "sh", "-c", script});
    variables.emplace("FOLDER", folder_.string());
    return workers_.emplace_back(flags, variables);
  }
  // One that has connected under the id.
  edge::Child& join(const std::string& id, Words more, const std::string& script,
                    Variables variables = {}) {
    more.insert(more.begin(), {"--id", id, "--server", nats_url(), "--payloads", redis_url()});
    edge::Child& worker = launch(std::move(more), script, std::move(variables));
    await_line(worker, "connected");
    EXPECT_TRUE(server_.wait_worker(id, [](const routing::WorkerView&) { return true; }));
    return worker;
  }
  // The one worker of most tests.
  void start(Words more, const std::string& script) {
    worker_ = &join("w1", std::move(more), script);
  }
  void wait_for_line(const std::string& text) { await_line(*worker_, text); }
  void signal(int number) { ::kill(worker_->id(), number); }

  // A job that the scheduler does not know, for one worker.
  void hand_out(const std::string& worker, const std::string& job, uint64_t epoch,
                int64_t deadline_ms = 0) {
    cap::BusPacket packet;
    cap::JobRequest& request = *packet.mutable_job_request();
    request.set_job_id(job);
    request.set_topic("job.default");
    request.mutable_dispatch()->set_attempt(epoch);
    if (deadline_ms > 0) request.mutable_budget()->set_deadline_ms(deadline_ms);
    server_.publish("worker." + worker + ".jobs", std::move(packet));
  }

  std::string read(const std::string& name) {
    std::ifstream file(folder_ / name);
    return {std::istreambuf_iterator<char>(file), {}};
  }
  // A program says that it has begun by making a pipe's other end open.
  void make_gate(const std::string& name) {
    ASSERT_EQ(::system(("mkfifo " + (folder_ / name).string()).c_str()), 0);
  }
  void open_gate(const std::string& name) { std::ofstream(folder_ / name) << "go\n"; }
  std::string pass_gate(const std::string& name) { return read(name); }

  EmbeddedServer server_;
  fs::path folder_;
  std::list<edge::Child> workers_;
  edge::Child* worker_ = nullptr;
};

}  // namespace fairlead
