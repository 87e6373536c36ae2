// `fairlead worker` and the payload listener: a job is not lost because that cannot be used.
#include <atomic>
#include <thread>

#include <unistd.h>

#include "tests/edge/loopback.h"
#include "tests/worker/worker_program.h"

namespace fairlead {
namespace {

TEST_F(WorkerProgram, APayloadThatIsGoneFailsTheJob) {
  start({}, "cat");
  cap::BusPacket packet;
  packet.mutable_job_request()->set_job_id("job-1");
  packet.mutable_job_request()->set_topic("job.default");
  packet.mutable_job_request()->set_context_ptr("redis://ctx:gone");
  server_.publish("sys.job.submit", std::move(packet));
  auto record = server_.wait_for("job-1", State::kFailed);
  EXPECT_EQ(record->error_code, "payload_missing");
}

TEST_F(WorkerProgram, AResultIsKeptAsLongAsTheWorkerIsTold) {
  start({"--keep-results", "720h"}, "cat");
  server_.submit("job-1", "x");
  ASSERT_TRUE(server_.wait_for("job-1", State::kSucceeded));
  const auto kept = server_.blob_kept("res:job-1");
  ASSERT_TRUE(kept.has_value());
  EXPECT_LE(*kept, 720h);
  EXPECT_GT(*kept, 719h);
}

TEST_F(WorkerProgram, WithoutAPayloadListenerItTakesNoJobsAndSaysWhy) {
  const uint16_t closed = edge::Loopback().port();  // free again
  edge::Child& worker = launch(
      {"--server", nats_url(), "--payloads", "redis://127.0.0.1:" + std::to_string(closed)}, "cat");
  await_line(worker, "cannot use the payload listener: cannot connect to 127.0.0.1:" +
                         std::to_string(closed));
  EXPECT_EQ(server_.workers(), 0u);
}

TEST_F(WorkerProgram, WhatIsNoRedisIsSaidToBeNone) {
  edge::Loopback other;
  std::thread answering([&] {
    const int client = other.accept();
    (void)!::write(client, "220 mail ready\r\n", 16);
    ::close(client);
  });
  edge::Child& worker = launch(
      {"--server", nats_url(), "--payloads", "redis://127.0.0.1:" + std::to_string(other.port())},
      "cat");
  await_line(worker, "cannot use the payload listener: this is not a Redis server");
  EXPECT_EQ(server_.workers(), 0u);
  answering.join();
}

TEST_F(WorkerProgram, ASilentPortIsSaidToBeSilent) {
  edge::Loopback silent;
  edge::Child& worker = launch(
      {"--server", "nats://127.0.0.1:" + std::to_string(silent.port()), "--payloads", redis_url()},
      "cat");
  await_line(worker, "no answer in time");
}

TEST_F(WorkerProgram, AListenerThatGoesAwayCostsNoJob) {
  start({}, "cat");
  server_.stop_payloads();
  server_.submit("job-1", "x");
  wait_for_line("cannot use the payload listener");
  server_.start_payloads();
  auto record = server_.wait_for("job-1", State::kSucceeded);
  ASSERT_TRUE(record);
  EXPECT_EQ(server_.blob("res:job-1"), "x");
}

// What a listener says that cannot be used, once for each call.
class Refusing {
 public:
  explicit Refusing(std::string answer) : answer_(std::move(answer)) {
    thread_ = std::thread([this] { serve(); });
  }
  ~Refusing() {
    over_ = true;
    listener_.stop();
    thread_.join();
  }
  std::string url() const { return "redis://127.0.0.1:" + std::to_string(listener_.port()); }
  // Whether it says that, or "OK" to all.
  std::atomic<bool> refuses = false;

 private:
  void serve() {
    while (!over_) {
      const int client = listener_.accept();
      char asked[4096];
      while (!over_ && ::read(client, asked, sizeof(asked)) > 0) {
        const std::string said = refuses ? answer_ : "+OK\r\n";
        (void)!::write(client, said.data(), said.size());
      }
      ::close(client);
    }
  }

  std::string answer_;
  edge::Loopback listener_;
  std::atomic<bool> over_ = false;
  std::thread thread_;
};

TEST_F(WorkerProgram, AListenerThatRefusesCostsNoJobAndTheWorkerTakesNoMore) {
  Refusing refusing("-NOAUTH Authentication required.\r\n");
  edge::Child& worker =
      launch({"--id", "w1", "--server", nats_url(), "--payloads", refusing.url()}, "cat");
  await_line(worker, "connected");
  refusing.refuses = true;
  server_.submit("job-1", "x");
  auto record = server_.wait_for("job-1", State::kRetrying);
  ASSERT_TRUE(record);
  EXPECT_EQ(record->wait->detail, "the payload listener says NOAUTH Authentication required.");
  EXPECT_TRUE(server_.wait_worker("w1", [](const routing::WorkerView& view) {
    return view.overloaded;
  })) << "or it would swallow the queue";
  refusing.refuses = false;
  EXPECT_TRUE(
      server_.wait_worker("w1", [](const routing::WorkerView& view) { return !view.overloaded; }));
}

class WorkerCredentials : public testing::Test {
 protected:
  std::string place(uint16_t port) const { return "127.0.0.1:" + std::to_string(port); }
  void expect_job_done(const Words& flags) {
    Words words{worker_program(), "--pool", "default"};
    words.insert(words.end(), flags.begin(), flags.end());
    words.insert(words.end(), {"--", "cat"});
    edge::Child worker(words, {});
    await_line(worker, "connected");
    server_.submit("job-1", "x");
    EXPECT_TRUE(server_.wait_for("job-1", State::kSucceeded));
  }

  EmbeddedServer server_{edge::Credentials{.token = "s3cret"}};
};

TEST_F(WorkerCredentials, ATokenIsShownToBothListeners) {
  expect_job_done({"--token", "s3cret", "--server", "nats://" + place(server_.nats_port()),
                   "--payloads", "redis://" + place(server_.resp_port())});
}

TEST_F(WorkerCredentials, ATokenInTheAddressOfTheServerIsShownToBothListeners) {
  expect_job_done({"--server", "nats://s3cret@" + place(server_.nats_port()), "--payloads",
                   "redis://" + place(server_.resp_port())});
}

TEST_F(WorkerCredentials, AWrongPasswordIsSaidBeforeAnyJobIsTaken) {
  edge::Child worker({worker_program(), "--pool", "default", "--server",
                      "nats://s3cret@" + place(server_.nats_port()), "--payloads",
                      "redis://:wrong@" + place(server_.resp_port()), "--", "cat"},
                     {});
  await_line(worker, "cannot use the payload listener: the payload listener says WRONGPASS");
  EXPECT_EQ(server_.workers(), 0u);
}

TEST_F(WorkerProgram, CredentialsOfTheServerAreNotForcedOnPayloadsThatNeedNone) {
  edge::Child& worker = launch({"--server", nats_url("tok@"), "--payloads", redis_url()}, "cat");
  await_line(worker, "connected");
  server_.submit("job-1", "x");
  EXPECT_TRUE(server_.wait_for("job-1", State::kSucceeded));
}

}  // namespace
}  // namespace fairlead
