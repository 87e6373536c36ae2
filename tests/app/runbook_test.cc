// The commands of the runbooks that operators of the services have at hand, letter by letter.
//
// Only what belongs to the place is put in: where the server listens (CORDUM_GATEWAY, the port of
// the metrics), where its log lies, and the id that stands as <job_id>. ripgrep, which they pipe
// to, is grep here.
//
// Not run: `go test ./core/…`, which are tests of another repository (what they assert is told in
// tests/behaviour/ rollback.story, hints.story and stale.story); `cat config/timeouts.yaml`, which
// shows a file that this server reads where --timeouts names it.
// "stale worker detected, retrying dispatch" needs a worker that is silent for 30 s, "dispatch
// rollback failed" a store that fails and "input policy fail-open: safety kernel unreachable" a
// policy service: stale.story, rollback.story and policy.story have them, in virtual time.
#include <algorithm>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/app/server_process.h"

namespace fairlead::app {
namespace {

using testing::ContainsRegex;
using testing::HasSubstr;
using testing::MatchesRegex;

std::string replaced(std::string text, const std::string& from, const std::string& to) {
  const size_t at = text.find(from);
  if (at == text.npos) return text;
  return text.replace(at, from.size(), to);
}

class Runbook : public testing::Test {
 protected:
  Runbook() {
    std::filesystem::create_directory(folder_ / "bin");
    std::filesystem::create_symlink(program(), folder_ / "bin/cordumctl");
    folder_.write("bin/rg", "#!/bin/sh\nexec grep -E \"$@\"\n");
    std::filesystem::permissions(folder_ / "bin/rg", std::filesystem::perms::owner_all);
    server_.emplace(folder_ / "data");
  }

  // As a person at a shell would. A command that fails, or finds nothing, fails the test.
  std::string run(const std::string& command) {
    const std::string printed =
        replaced(replaced(command, "localhost:2112", "localhost:" + port(server_->metrics)),
                 "/var/log/cordum/scheduler.log", folder_ / "scheduler.log");
    edge::Child shell({"bash", "-euo", "pipefail", "-c", printed},
                      {{"PATH", (folder_ / "bin") + ":" + std::getenv("PATH")},
                       {"CORDUM_GATEWAY", "http://localhost:" + port(server_->api)}});
    shell.close_input();
    EXPECT_EQ(shell.wait(), 0) << printed << "\n" << shell.output();
    return shell.output();
  }
  // What is printed when a job was submitted: its id and nothing else.
  std::string submit(const std::string& command) {
    const std::string out = run(command);
    EXPECT_THAT(out, MatchesRegex("[0-9a-f-]{36}\n"));
    return out.substr(0, out.find('\n'));
  }
  // The log of the server up to now is in its file.
  void end_server() {
    EXPECT_EQ(server_->stop(), 0);
    folder_.write("scheduler.log", server_->child().output());
  }
  static std::string port(uint16_t number) { return std::to_string(number); }

  Folder folder_;
  std::optional<ServerProcess> server_;
};

TEST_F(Runbook, OfHints) {
  TestWorker first(server_->workers, "w1"), second(server_->workers, "w2");
  const std::string hinted = submit(
      R"(cordumctl job submit --topic job.default --prompt "hint probe" --labels '{"preferred_worker_id":"w2"}')");
  EXPECT_EQ(second.take().job_id(), hinted);
  const std::string pooled = submit(
      R"(cordumctl job submit --topic job.default --prompt "pool hint probe" --labels '{"preferred_pool":"gpu-batch"}')");
  EXPECT_EQ(server_->await_state(pooled, "FAILED"), "FAILED");
  end_server();
  const std::string found = run(
      R"(rg "strategy pick preferred worker|no pool mapping for topic" /var/log/cordum/scheduler.log)");
  EXPECT_THAT(found, ContainsRegex("INFO strategy pick preferred worker job_id=" + hinted +
                                   " worker_id=w2"));
  EXPECT_THAT(found, ContainsRegex("WARNING no pool mapping for topic job_id=" + pooled +
                                   " topic=job.default error=.*gpu-batch"));
  EXPECT_EQ(std::ranges::count(found, '\n'), 2);
}

TEST_F(Runbook, OfStaleWorkers) {
  const std::string job = submit(
      R"(cordumctl job submit --topic job.default --prompt "stale-worker probe" --labels '{"preferred_worker_id":"worker-stale"}')");
  const std::string shown = run(replaced("cordumctl job status <job_id> --json", "<job_id>", job));
  EXPECT_THAT(shown, HasSubstr("\"id\": \"" + job + "\""));
  EXPECT_THAT(shown, HasSubstr("\"state\": \"PENDING\""));
  EXPECT_THAT(shown, HasSubstr("no_workers"));
}

TEST_F(Runbook, OfRollbacks) {
  // It is given the job and does not take it: the publish is refused.
  TestWorker deaf(server_->workers, "deaf", "default", TestWorker::Ears::kDeaf);
  const std::string shown = run(
      R"(JOB_ID=$(cordumctl job submit --topic job.default --prompt "dispatch rollback probe")
cordumctl job status "$JOB_ID" --json)");
  EXPECT_THAT(shown, ContainsRegex("\"state\": \"(SCHEDULED|DISPATCHED)\""));
  EXPECT_TRUE(ServerProcess::await([&] {
    return run("curl -s http://localhost:2112/metrics | rg scheduler_dispatch_rollback_total")
               .find("topic=\"job.default\"} ") != std::string::npos;
  }));
}

}  // namespace
}  // namespace fairlead::app
