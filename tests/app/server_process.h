// For tests: `fairlead up` as a child process, on ports that the kernel chooses, and its clients.
#pragma once

#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <functional>
#include <map>
#include <memory>
#include <regex>
#include <string>
#include <vector>

#include <gtest/gtest.h>
#include <poll.h>

#include "cordum/agent/v1/buspacket.pb.h"
#include "edge/net/raw_client_fixture.h"
#include "tests/edge/child.h"
#include "tests/load/up_line.h"

namespace fairlead::app {

using Words = std::vector<std::string>;
using Variables = std::map<std::string, std::string>;

// A folder that is gone with the object.
class Folder {
 public:
  Folder() {
    std::string name = testing::TempDir() + "fairlead-app-XXXXXX";
    path_ = ::mkdtemp(name.data());
  }
  ~Folder() { std::filesystem::remove_all(path_); }
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;

  std::string operator/(const std::string& name) const { return (path_ / name).string(); }
  // As editors do it: a new file in the place of the old one.
  std::string write(const std::string& name, const std::string& text) const {
    const std::string path = *this / name;
    std::ofstream(path + ".new") << text;
    std::filesystem::rename(path + ".new", path);
    return path;
  }

 private:
  std::filesystem::path path_;
};

// The program under test.
std::string program();

// Runs it to its end.
struct Ended {
  int status = 0;
  std::string output;
};
inline Ended run(Words words, const Variables& variables = {}) {
  words.insert(words.begin(), program());
  edge::Child child(words, variables);
  child.close_input();
  const int status = child.wait();
  return {status, child.output()};
}

class ServerProcess {
 public:
  // More flags; one of the same name wins over those given here.
  ServerProcess(const std::string& data, const Words& flags = {}, const Variables& variables = {}) {
    child_ = std::make_unique<edge::Child>(load::up_words(program(), data, flags), variables);
    read_ready_line();
  }

  bool ready() const { return api != 0; }
  edge::Child& child() { return *child_; }
  // Ends it as an operator would; its status.
  int stop() {
    child_->signal(SIGTERM);
    return child_->wait();
  }
  // The line that holds the text, reading as far as needed; empty when it ended before.
  std::string line_with(std::string_view text) {
    while (true) {
      std::string line = child_->line();
      if (line.empty() || line.find(text) != line.npos) return line;
    }
  }

  // Head and body of the answer.
  std::string call(const std::string& method, const std::string& path, const std::string& body = {},
                   const std::string& headers = {}) const {
    return call_on(api, method, path, body, headers);
  }
  static std::string call_on(uint16_t port, const std::string& method, const std::string& path,
                             const std::string& body = {}, const std::string& headers = {}) {
    edge::RawClient client(port);
    client.send(method + " " + path + " HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n" +
                headers + "Content-Length: " + std::to_string(body.size()) + "\r\n\r\n" + body);
    return client.rest();
  }
  // The id of a new job.
  std::string submit(const std::string& topic = "job.default") const {
    return field(call("POST", "/api/v1/jobs", R"({"prompt":"hi","topic":")" + topic + "\"}"),
                 "job_id");
  }
  std::string state_of(const std::string& job) const {
    return field(call("GET", "/api/v1/jobs/" + job), "state");
  }
  // Asks until the job is in the state; the state it is in when patience is over.
  std::string await_state(const std::string& job, const std::string& wanted) const {
    std::string state;
    await([&] { return (state = state_of(job)) == wanted; });
    return state;
  }
  // True when it became true within 20 seconds. Between two looks it waits for nothing to happen.
  static bool await(const std::function<bool()>& done) {
    for (int tries = 0; tries < 1000; ++tries) {
      if (done()) return true;
      ::poll(nullptr, 0, 20);
    }
    return false;
  }

  static std::string field(const std::string& answer, const std::string& name) {
    std::smatch found;
    std::regex_search(answer, found, std::regex("\"" + name + "\":\"([^\"]*)\""));
    return found.size() > 1 ? found[1].str() : "";
  }

  std::string ready_line;
  uint16_t api = 0;
  uint16_t workers = 0;
  uint16_t payloads = 0;
  uint16_t metrics = 0;

 private:
  void read_ready_line() {
    ready_line = line_with(load::kReady);
    const load::ServerPorts ports = load::ports_in(ready_line);
    if (ports.api == 0) ADD_FAILURE() << "the server did not start: " << child_->output();
    api = ports.api;
    workers = ports.workers;
    payloads = ports.payloads;
    metrics = ports.metrics;
  }

  std::unique_ptr<edge::Child> child_;
};

// A worker that says what it is told, over the workers' listener.
class TestWorker {
 public:
  enum class Ears { kOpen, kDeaf };  // a deaf one shows that it lives, and listens for no jobs
  TestWorker(uint16_t port, std::string id, std::string pool = "default", Ears ears = Ears::kOpen)
      : client_(port), id_(std::move(id)), pool_(std::move(pool)) {
    client_.until("\r\n");  // INFO
    client_.send("CONNECT {\"verbose\":false}\r\n");
    if (ears == Ears::kOpen) client_.send("SUB worker." + id_ + ".jobs 1\r\n");
    beat();
    client_.send("PING\r\n");
    client_.until("PONG\r\n");
  }

  void beat() {
    cordum::agent::v1::BusPacket packet;
    auto& heartbeat = *packet.mutable_heartbeat();
    heartbeat.set_worker_id(id_);
    heartbeat.set_pool(pool_);
    heartbeat.set_max_parallel_jobs(4);
    publish("sys.heartbeat", packet);
  }
  // The next job that it is given.
  cordum::agent::v1::JobRequest take() {
    client_.until("MSG ");
    std::string head = client_.line();
    const size_t bytes = std::stoul(head.substr(head.rfind(' ')));
    while (held_.size() < bytes + 2) held_ += client_.until("\r\n");
    cordum::agent::v1::BusPacket packet;
    EXPECT_TRUE(packet.ParseFromString(held_.substr(0, bytes)));
    held_.erase(0, bytes + 2);
    return packet.job_request();
  }
  // Publishes the end of a job and waits until it is safe.
  std::string succeed(const cordum::agent::v1::JobRequest& job) {
    cordum::agent::v1::BusPacket packet;
    auto& result = *packet.mutable_job_result();
    result.set_job_id(job.job_id());
    result.set_worker_id(id_);
    result.set_status(cordum::agent::v1::JOB_STATUS_SUCCEEDED);
    *result.mutable_dispatch() = job.dispatch();
    client_.send("SUB _INBOX.1 2\r\n");
    publish("sys.job.result", packet, "_INBOX.1");
    client_.until("MSG _INBOX.1");
    client_.line();
    return client_.line();
  }
  // Publishes a job on the bus, as a gateway does.
  void submit(const std::string& job, const std::string& topic) {
    cordum::agent::v1::BusPacket packet;
    packet.mutable_job_request()->set_job_id(job);
    packet.mutable_job_request()->set_topic(topic);
    publish("sys.job.submit", packet);
  }
  edge::RawClient& client() { return client_; }

 private:
  void publish(const std::string& subject, cordum::agent::v1::BusPacket& packet,
               const std::string& reply = {}) {
    packet.set_trace_id("trace");
    packet.set_sender_id(id_);
    packet.set_protocol_version(1);
    const std::string bytes = packet.SerializeAsString();
    client_.send("PUB " + subject + " " + (reply.empty() ? "" : reply + " ") +
                 std::to_string(bytes.size()) + "\r\n" + bytes + "\r\n");
  }

  edge::RawClient client_;
  std::string id_;
  std::string pool_;
  std::string held_;
};

}  // namespace fairlead::app
