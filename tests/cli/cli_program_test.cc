// The verbs of fairlead.
#include "tests/cli/cli_program.h"

#include <thread>

#include <unistd.h>

#include <boost/json/parse.hpp>

#include "tests/edge/loopback.h"

namespace fairlead::http {
namespace {

using testing::HasSubstr;

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

// A server whose streams fall silent: the end of a job is not among their events.
TEST(CliProgramAlone, WaitingForAJobDoesNotRelyOnEventsAlone) {
  edge::Loopback server;
  std::thread serving([&] {
    auto answer = [&](const std::string& text) {
      const int client = server.accept();
      char asked[4096];
      EXPECT_GT(::read(client, asked, sizeof(asked)), 0);
      EXPECT_EQ(::write(client, text.data(), text.size()), static_cast<ssize_t>(text.size()));
      return client;
    };
    const int stream = answer(
        "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\r\n"
        "id: a-1\nevent: job.status_changed\ndata: {\"state\":\"RUNNING\"}\n\n");
    const std::string body = R"({"id":"j1","state":"SUCCEEDED"})";
    ::close(answer("HTTP/1.1 200 OK\r\nContent-Length: " + std::to_string(body.size()) +
                   "\r\nConnection: close\r\n\r\n" + body));
    ::close(stream);
  });
  const Ran ran = run_at(server.url(), "cli_program", {"job", "wait", "j1"});
  EXPECT_EQ(ran.exit_code, 0);
  EXPECT_EQ(ran.output, "SUCCEEDED\n");
  serving.join();
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

TEST_F(CliProgram, ATopicOfAPoolThatIsNotThereMakesThePoolToo) {
  const Ran made = run({"topic", "create", "job.train", "--pool", "gpu-big"});
  EXPECT_EQ(made.exit_code, 0);
  EXPECT_EQ(
      made.output,
      "topic job.train is served by pool gpu-big\n"
      "pool gpu-big is new; start a worker for it: fairlead worker --pool gpu-big -- COMMAND\n");
  EXPECT_THAT(run({"pool", "list"}).output, HasSubstr("gpu-big"));
  EXPECT_EQ(run({"topic", "create", "job.bad", "--pool", "No Pool"}).exit_code, 1)
      << "not every word is a pool's name";
  const Ran gone = run({"topic", "delete", "job.train", "-o", "json"});
  EXPECT_EQ(json::parse(gone.output), (json::value{{"name", "job.train"}, {"deleted", true}}));
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

// A server that was there and is gone before it has answered.
TEST(CliProgramAlone, AConnectionThatBreaksIsAFailureAndNoTimeout) {
  for (const bool reset : {true, false}) {
    edge::Loopback server;
    std::thread serving([&] {
      const int client = server.accept();
      char asked[4096];
      EXPECT_GT(::read(client, asked, sizeof(asked)), 0);
      const linger at_once{.l_onoff = reset, .l_linger = 0};
      ::setsockopt(client, SOL_SOCKET, SO_LINGER, &at_once, sizeof(at_once));
      ::close(client);
    });
    const Ran ran = run_at(server.url(), "cli_program", {"status"});
    EXPECT_EQ(ran.exit_code, 1);
    EXPECT_THAT(ran.output, HasSubstr("the connection ended before the answer came"));
    serving.join();
  }
}

TEST_F(CliProgram, WrongWordsExitWithTwo) {
  EXPECT_EQ(run({"job", "submit"}).exit_code, 2);
  EXPECT_EQ(run({"status", "-o", "xml"}).exit_code, 2);
  EXPECT_EQ(run({"job", "list", "--limit", "many"}).exit_code, 2);
}

}  // namespace
}  // namespace fairlead::http
