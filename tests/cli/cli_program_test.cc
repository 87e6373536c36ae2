// The verbs as a process of their own, against the core over its HTTP server.
#include <filesystem>

#include <gmock/gmock.h>

#include "cordum/agent/v1/buspacket.pb.h"
#include "edge/http/server_fixture.h"
#include "job/request.h"
#include "tests/edge/child.h"

namespace fairlead::http {
namespace {

namespace fs = std::filesystem;
namespace cap = cordum::agent::v1;
using testing::HasSubstr;
using testing::MatchesRegex;
using Words = std::vector<std::string>;

struct Ran {
  int exit_code = 0;
  std::string output;  // of both streams
};

class CliProgram : public ServerTest {
 protected:
  CliProgram() { start(); }

  Ran run(Words words, const std::string& program = "cli_program") {
    words.insert(words.begin(), (fs::read_symlink("/proc/self/exe").parent_path() / program));
    const std::string url = "http://127.0.0.1:" + std::to_string(port_);
    edge::Child child(words, {{"FAIRLEAD_API", url}, {"CORDUM_GATEWAY", url}});
    Ran ran;
    ran.exit_code = child.wait();
    ran.output = child.output();
    return ran;
  }
  Ran cordumctl(Words words) { return run(std::move(words), "cordumctl"); }
  // The first line: an id.
  static std::string first_line(const Ran& ran) {
    return ran.output.substr(0, ran.output.find('\n'));
  }

  // A worker whose jobs all end so.
  void start_worker(cap::JobStatus status, const std::string& message = {}) {
    on_loop([&] {
      auto take = [this, status, message](bus::Delivery delivery) -> Task<bus::Verdict> {
        cap::BusPacket request, answer;
        request.ParseFromString(std::string(delivery.payload.begin(), delivery.payload.end()));
        cap::JobResult& result = *answer.mutable_job_result();
        result.set_job_id(request.job_request().job_id());
        result.set_worker_id("w1");
        result.set_status(status);
        result.set_error_message(message);
        publish(bus::kResultSubject, answer);
        co_return bus::Verdict::ack();
      };
      subscription_ = bus_->subscribe("worker.w1.jobs", {}, take).value();
      cap::BusPacket packet;
      cap::Heartbeat& heartbeat = *packet.mutable_heartbeat();
      heartbeat.set_worker_id("w1");
      heartbeat.set_pool("default");
      heartbeat.set_max_parallel_jobs(4);
      publish(bus::kHeartbeatSubject, packet);
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

TEST_F(CliProgram, ASubmittedJobIsSeenEverywhere) {
  const Ran submitted = run({"job", "submit", "hello"});
  EXPECT_EQ(submitted.exit_code, 0);
  EXPECT_THAT(submitted.output, HasSubstr("start a worker: fairlead worker --pool default -- cat"));
  const std::string job = first_line(submitted);
  EXPECT_THAT(run({"job", "status", job}).output, HasSubstr("State:      PENDING"));
  EXPECT_THAT(run({"job", "status", job, "-o", "json"}).output, HasSubstr("\"id\": \"" + job));
  EXPECT_EQ(run({"job", "list", "-o", "id"}).output, job + "\n");
  EXPECT_THAT(run({"job", "list", "--state", "PENDING"}).output, HasSubstr(job + "  PENDING"));
  EXPECT_EQ(run({"job", "list", "--state", "FAILED", "-o", "id"}).output, "");
  EXPECT_THAT(run({"job", "explain", job}).output, HasSubstr("No worker now: no_workers"));
  EXPECT_THAT(run({"status"}).output, HasSubstr("1 pending"));
  EXPECT_THAT(run({"top", "--once"}).output, HasSubstr("job.default  1"));
}

TEST_F(CliProgram, ExitCodesTellHowAJobEnded) {
  start_worker(cap::JOB_STATUS_SUCCEEDED);
  const std::string good = first_line(run({"job", "submit", "x"}));
  const Ran waited = run({"job", "wait", good});
  EXPECT_EQ(waited.exit_code, 0);
  EXPECT_EQ(waited.output, "SUCCEEDED\n");
  EXPECT_THAT(run({"job", "watch", good}).output, HasSubstr("SUCCEEDED job.default w1"));
  start_worker(cap::JOB_STATUS_FAILED, "no good");
  const Ran bad = run({"job", "submit", "--wait", "x"});
  EXPECT_EQ(bad.exit_code, 1);
  EXPECT_THAT(bad.output, HasSubstr("FAILED\nfairlead: no good\n"));
  start_worker(cap::JOB_STATUS_DENIED);
  EXPECT_EQ(run({"job", "submit", "--wait", "x"}).exit_code, 3);
  start_worker(cap::JOB_STATUS_TIMEOUT);
  EXPECT_EQ(run({"job", "submit", "--wait", "x"}).exit_code, 4);
}

TEST_F(CliProgram, AWaitThatIsTooLongExitsWithFour) {
  const std::string job = first_line(run({"job", "submit", "x"}));
  const Ran ran = run({"job", "wait", job, "--timeout", "100ms"});
  EXPECT_EQ(ran.exit_code, 4);
  EXPECT_THAT(ran.output, HasSubstr("is still PENDING"));
}

TEST_F(CliProgram, JobsAreCancelledByNameAndByWhatTheyAre) {
  const std::string one = first_line(run({"job", "submit", "x"}));
  const std::string two = first_line(run({"job", "submit", "x"}));
  EXPECT_EQ(run({"job", "cancel", one}).output, one + " CANCELLED\n");
  EXPECT_EQ(run({"job", "cancel", one}).exit_code, 1);
  EXPECT_EQ(run({"job", "cancel", "--all", "--dry-run"}).output, two + "\n");
  EXPECT_EQ(run({"job", "cancel", "--all"}).output, "1 of 1 cancelled\n");
  EXPECT_EQ(run({"job", "cancel"}).exit_code, 2);
}

TEST_F(CliProgram, DeadLettersAreShownRetriedAndDeleted) {
  start_worker(cap::JOB_STATUS_FAILED, "no good");
  const std::string job = first_line(run({"job", "submit", "x"}));
  run({"job", "wait", job});
  EXPECT_THAT(run({"dlq", "list"}).output, HasSubstr("no good"));
  EXPECT_THAT(run({"dlq", "show", job}).output, HasSubstr("Reason:"));
  EXPECT_EQ(run({"dlq", "retry", "--all", "--dry-run"}).output, job + "\n");
  const Ran again = run({"dlq", "retry", job});
  EXPECT_THAT(again.output, testing::StartsWith(job + "-retry-"));
  run({"job", "wait", first_line(again)});
  EXPECT_EQ(run({"dlq", "delete", "--all"}).output, "1 of 1 deleted\n");
  EXPECT_EQ(run({"dlq", "list", "-o", "id"}).output, "");
}

TEST_F(CliProgram, AnUnknownTopicNamesTheCommandThatMakesIt) {
  const Ran refused = run({"job", "submit", "--topic", "job.new", "x"});
  EXPECT_EQ(refused.exit_code, 1);
  EXPECT_EQ(refused.output,
            "fairlead: there is no topic job.new; make it: fairlead topic create job.new --pool "
            "default\n");
  EXPECT_EQ(run({"topic", "create", "job.new", "--pool", "default"}).output,
            "topic job.new is served by pool default\n");
  EXPECT_EQ(run({"job", "submit", "--topic", "job.new", "x"}).exit_code, 0);
  EXPECT_THAT(run({"topic", "list"}).output, HasSubstr("job.new      default"));
  EXPECT_EQ(run({"topic", "delete", "job.new"}).exit_code, 0);
}

TEST_F(CliProgram, WorkersPoolsAndRoutesAreShown) {
  EXPECT_EQ(run({"route", "explain"}).exit_code, 1);
  start_worker(cap::JOB_STATUS_SUCCEEDED);
  EXPECT_THAT(run({"worker", "list"}).output, HasSubstr("w1      default  0/4"));
  EXPECT_THAT(run({"pool", "list"}).output, HasSubstr("default  1"));
  EXPECT_THAT(run({"pool", "get", "default"}).output, HasSubstr("Topics:       job.default"));
  EXPECT_EQ(run({"route", "explain", "-o", "id"}).output, "w1\n");
  const Ran healthy = run({"doctor"});
  EXPECT_EQ(healthy.exit_code, 0) << healthy.output;
  EXPECT_THAT(healthy.output, HasSubstr("every topic has a worker"));
}

TEST_F(CliProgram, TailShowsWhatHappens) {
  edge::Child tail(
      {(fs::read_symlink("/proc/self/exe").parent_path() / "cli_program").string(), "tail",
       "--heartbeats", "--server", "http://127.0.0.1:" + std::to_string(port_)},
      {});
  // Opened when the server counts a reader.
  while (on_loop([&] { return server_->stream_readers(); }) == 0) {
  }
  start_worker(cap::JOB_STATUS_SUCCEEDED);
  EXPECT_THAT(tail.line(), HasSubstr("worker.heartbeat"));
}

TEST_F(CliProgram, AServerThatIsNotThereIsOneClearLine) {
  const Ran ran = run({"status", "--server", "http://127.0.0.1:1"});
  EXPECT_EQ(ran.exit_code, 1);
  EXPECT_EQ(ran.output,
            "fairlead: no server at http://127.0.0.1:1 (Connection refused); start one: fairlead "
            "up, or name another: --server URL or FAIRLEAD_API\n");
}

TEST_F(CliProgram, WrongWordsExitWithTwo) {
  EXPECT_EQ(run({"job", "submit"}).exit_code, 2);
  EXPECT_EQ(run({"status", "-o", "xml"}).exit_code, 2);
  EXPECT_EQ(run({"job", "list", "--limit", "many"}).exit_code, 2);
}

TEST_F(CliProgram, AsCordumctlItPrintsWhatThatToolPrints) {
  start_worker(cap::JOB_STATUS_SUCCEEDED);
  const Ran submitted = cordumctl({"job", "submit", "--topic", "job.default", "--prompt",
                                   "hint probe", "--labels", R"({"preferred_worker_id":"w2"})"});
  EXPECT_EQ(submitted.exit_code, 0);
  EXPECT_THAT(submitted.output, MatchesRegex("[0-9a-f-]{36}\n"));
  const std::string job = first_line(submitted);
  EXPECT_EQ(run({"job", "wait", job}).exit_code, 0);
  EXPECT_EQ(cordumctl({"job", "status", job}).output, "SUCCEEDED\n");
  EXPECT_THAT(cordumctl({"job", "status", job, "--json"}).output, HasSubstr("\"state\": \"SUCC"));
  EXPECT_THAT(cordumctl({"status"}).output, HasSubstr("NATS:     embedded"));
  EXPECT_THAT(cordumctl({"pool", "list"}).output, HasSubstr("UTILIZATION"));
  EXPECT_THAT(cordumctl({"topic", "list"}).output, HasSubstr("ACTIVE WORKERS"));
}

TEST_F(CliProgram, AsCordumctlEveryErrorIsOneLineAndExitsWithOne) {
  const Ran unknown = cordumctl({"job", "status", "nope"});
  EXPECT_EQ(unknown.exit_code, 1);
  EXPECT_THAT(unknown.output, testing::StartsWith("cordumctl: unexpected status 404: {"));
  const Ran topic = cordumctl({"job", "submit", "--topic", "job.new", "--prompt", "x"});
  EXPECT_EQ(topic.exit_code, 1);
  EXPECT_THAT(topic.output, HasSubstr("cordumctl topic create job.new --pool default"));
  EXPECT_EQ(cordumctl({"job", "submit", "--prompt", "x"}).output,
            "cordumctl: --topic is required\n");
  EXPECT_EQ(cordumctl({"jump"}).exit_code, 1);
}

}  // namespace
}  // namespace fairlead::http
