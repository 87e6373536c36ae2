// `tail` and `top`, which go on until they are stopped.
#include <thread>

#include <unistd.h>

#include "tests/cli/cli_program.h"
#include "tests/cli/other_gateway.h"
#include "tests/edge/loopback.h"

namespace fairlead::http {
namespace {

using testing::HasSubstr;
using testing::Not;

std::string program() {
  return (fs::read_symlink("/proc/self/exe").parent_path() / "cli_program").string();
}

class CliScreen : public CliProgram {
 protected:
  std::string url() const { return "http://127.0.0.1:" + std::to_string(port_); }
  // What it says up to the second time it says the text.
  static std::string until_twice(edge::Child& child, const std::string& text) {
    std::string said;
    for (int count = 0; count < 2;) {
      const std::string line = child.line();
      if (line.empty() && said.size() > 100'000) break;
      said += line + "\n";
      count += line.find(text) != line.npos;
    }
    return said;
  }
};

TEST_F(CliScreen, TopIntoAPipeIsPlainTextAgainAndAgain) {
  start_worker(cap::JOB_STATUS_SUCCEEDED);
  run({"job", "submit", "--wait", "x"});
  edge::Child top({program(), "top", "--every", "100ms", "--server", url()}, {{"TERM", "xterm"}});
  const std::string said = until_twice(top, "job.default");
  EXPECT_THAT(said, HasSubstr("succeeded 1"));
  EXPECT_THAT(said, HasSubstr("w1      default"));
  EXPECT_THAT(said, HasSubstr("0.0/s")) << "the second picture has rates";
  EXPECT_THAT(said, Not(HasSubstr("\x1b")));
}

TEST_F(CliScreen, TopOnATerminalIsWrittenOverInPlace) {
  edge::Child top(
      {"script", "-qfec", program() + " top --every 100ms --server " + url(), "/dev/null"},
      {{"TERM", "xterm"}});
  EXPECT_THAT(until_twice(top, "\x1b[Hfairlead"), HasSubstr("\x1b[K"));
}

TEST_F(CliScreen, TopOnADumbTerminalIsPlainText) {
  edge::Child top(
      {"script", "-qfec", program() + " top --every 100ms --server " + url(), "/dev/null"},
      {{"TERM", "dumb"}});
  EXPECT_THAT(until_twice(top, "TOPIC"), Not(HasSubstr("\x1b")));
}

// A key that sees one tenant is not told what all of them together do.
TEST(CliTop, WhatTheServerDoesNotSayIsADashAndNotZero) {
  OtherGateway server({{R"({"uptime_seconds":1,"build":{"version":"1"}})", 200},
                       {R"({"items":[{"topic":"job.default","counts":{"PENDING":2,"RUNNING":1},
                           "oldest_age_seconds":3}]})",
                        200},
                       {R"({"items":[]})", 200}});
  const std::string shown = run_at(server.url(), "cli_program", {"top", "--once"}).output;
  EXPECT_THAT(shown, HasSubstr("workers -  running -  pending -  succeeded -  failed -"));
  EXPECT_THAT(shown, testing::ContainsRegex("job.default +2 +1 +3s +- +- +-\n"));
}

TEST(CliTop, GoesOnWhenTheServerIsThereAgain) {
  const OtherGateway::Answers look = {
      {R"({"build":{"version":"1"}})", 200}, {R"({"items":[]})", 200}, {R"({"items":[]})", 200}};
  OtherGateway::Answers answers = look;
  answers.emplace_back(R"({"error":"the server is stopping"})", 503);
  answers.insert(answers.end(), look.begin(), look.end());
  OtherGateway server(answers);
  edge::Child top({program(), "top", "--every", "100ms", "--server", server.url()}, {});
  std::string said;
  for (int pictures = 0; pictures < 2;) {
    const std::string line = top.line();
    pictures += line.starts_with("fairlead 1 ");
    said += line + "\n";
    ASSERT_LT(said.size(), 10'000u);
  }
  EXPECT_THAT(said, HasSubstr("the server does not answer; waiting for it\n"));
}

TEST(CliTail, GoesOnWhereItWasWhenTheServerIsThereAgain) {
  edge::Loopback server;
  std::string second;
  std::thread serving([&] {
    const std::string head = "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\r\n";
    auto answer = [&](const std::string& event) {
      const int client = server.accept();
      char asked[4096];
      const ssize_t count = ::read(client, asked, sizeof(asked));
      const std::string text = head + event;
      EXPECT_EQ(::write(client, text.data(), text.size()), static_cast<ssize_t>(text.size()));
      ::close(client);
      return std::string(asked, count > 0 ? static_cast<size_t>(count) : 0);
    };
    answer(
        "id: a-7\nevent: job.status_changed\ndata: {\"job_id\":\"one\",\"state\":\"RUNNING\"}\n\n");
    second = answer(
        "id: a-8\nevent: job.status_changed\ndata: {\"job_id\":\"two\",\"state\":\"RUNNING\"}\n\n");
  });
  edge::Child tail({program(), "tail", "--server", server.url()}, {});
  EXPECT_THAT(tail.line(), HasSubstr("one RUNNING"));
  EXPECT_THAT(tail.line(), HasSubstr("the server ended the stream; waiting for it"));
  EXPECT_THAT(tail.line(), HasSubstr("two RUNNING"));
  serving.join();
  EXPECT_THAT(second, HasSubstr("Last-Event-ID: a-7"));
}

TEST(CliTail, OfNoServerIsOneClearLine) {
  const Ran ran = run_at("http://127.0.0.1:1", "cli_program", {"tail"});
  EXPECT_EQ(ran.exit_code, 1);
  EXPECT_THAT(ran.output, HasSubstr("no server at http://127.0.0.1:1"));
}

}  // namespace
}  // namespace fairlead::http
