#include "edge/nats/session.h"

#include "edge/nats/session_fixture.h"
#include "edge/net/net_limits.h"

namespace fairlead::edge::nats {
namespace {

using namespace std::chrono_literals;
using Kind = Command::Kind;

constexpr std::string_view kHeaders = "NATS/1.0\r\nNats-Msg-Id: m1\r\n\r\n";

std::string hpub(std::string_view subject, std::string_view headers, std::string_view payload) {
  return "HPUB " + std::string(subject) + " " + std::to_string(headers.size()) + " " +
         std::to_string(headers.size() + payload.size()) + "\r\n" + std::string(headers) +
         std::string(payload) + "\r\n";
}

TEST_F(SessionTest, IntroducesItself) {
  settings.info.port = 4222;
  open();
  EXPECT_TRUE(info.starts_with("INFO {\"server_id\":\"ID\"")) << info;
  EXPECT_TRUE(info.ends_with("}\r\n"));
  for (const char* part : {"\"headers\":true", "\"max_payload\":1048576", "\"version\":\"2.10.0\"",
                           "\"client_id\":7", "\"client_ip\":\"10.0.0.1\"", "\"port\":4222"}) {
    EXPECT_NE(info.find(part), std::string::npos) << part;
  }
  EXPECT_EQ(info.find("required"), std::string::npos);
}

TEST_F(SessionTest, SaysWhatItRequires) {
  settings.info.auth_required = settings.info.tls_required = settings.info.tls_verify = true;
  open();
  for (const char* part :
       {"\"auth_required\":true", "\"tls_required\":true", "\"tls_verify\":true"}) {
    EXPECT_NE(info.find(part), std::string::npos) << part;
  }
  EXPECT_TRUE(wire.tls_started);
}

TEST_F(SessionTest, HandsOverWhatIsPublished) {
  connect();
  EXPECT_EQ(say("PUB a.b 5\r\nhello\r\n"), "");
  EXPECT_EQ(say("pub\ta.b \t _INBOX.1 0\r\n\r\n"), "");
  EXPECT_EQ(say(hpub("a.c", kHeaders, "x\r\ny")), "");
  ASSERT_EQ(commands.size(), 3u);
  EXPECT_EQ(commands[0].kind, Kind::kPublish);
  EXPECT_EQ(commands[0].client, 7u);
  EXPECT_EQ(commands[0].message.subject, "a.b");
  EXPECT_EQ(commands[0].message.payload, "hello");
  EXPECT_EQ(commands[0].message.extras, nullptr);
  EXPECT_EQ(commands[0].message.origin, 0u);
  EXPECT_TRUE(commands[0].tell_no_responders);
  EXPECT_EQ(commands[1].message.extras->reply, "_INBOX.1");
  EXPECT_EQ(commands[2].message.payload, "x\r\ny");
  EXPECT_EQ(commands[2].message.extras->headers, kHeaders);
  EXPECT_EQ(commands[2].message.id, "m1");
}

TEST_F(SessionTest, HandsOverSubscriptions) {
  connect(R"({"verbose":false,"echo":false})");
  say("SUB a.* 1\r\nSUB a.> workers s2\r\nUNSUB 1\r\nUNSUB s2 5\r\nUNSUB s2 0\r\nPUB a 0\r\n\r\n");
  ASSERT_EQ(commands.size(), 6u);
  EXPECT_EQ(commands[0].kind, Kind::kSubscribe);
  EXPECT_EQ(commands[0].message.subject, "a.*");
  EXPECT_EQ(commands[0].name, "1");
  EXPECT_FALSE(commands[0].echo);
  EXPECT_NE(commands[0].backlog, nullptr);
  EXPECT_EQ(commands[1].queue, "workers");
  EXPECT_EQ(commands[1].name, "s2");
  EXPECT_EQ(commands[2].kind, Kind::kUnsubscribe);
  EXPECT_EQ(commands[2].max, std::nullopt);
  EXPECT_EQ(commands[3].max, 5u);
  EXPECT_EQ(commands[4].max, std::nullopt);
  EXPECT_EQ(commands[5].message.origin, 7u);
}

TEST_F(SessionTest, UnderstandsTheSameWhereverTheBytesAreCut) {
  const std::string script =
      "CONNECT {\"verbose\":false,\"headers\":true}\r\nPING\r\nSUB a.* q 1\r\n" +
      hpub("a.b r.1", kHeaders, "payload\r\nPUB x 1\r\n") + "PUB c 0\r\n\r\nUNSUB 1 3\r\n\r\n";
  auto summary = [&] {
    std::string text = wire.heard();
    for (const Command& command : std::exchange(commands, {})) {
      text += std::to_string(static_cast<int>(command.kind)) + "|" + command.message.subject + "|" +
              command.message.payload + "|" + command.message.id + "|" + command.name + "|" +
              command.queue + "|" + (command.message.extras ? command.message.extras->reply : "") +
              "\n";
    }
    return text;
  };
  open();
  session->received(script);
  session->received({});
  const std::string expected = summary();
  EXPECT_NE(expected.find("payload\r\nPUB x 1\r\n|m1"), std::string::npos) << expected;
  for (size_t cut = 1; cut < script.size(); ++cut) {
    open();
    session->received(std::string_view(script).substr(0, cut));
    session->received(std::string_view(script).substr(cut));
    EXPECT_EQ(summary(), expected) << "cut at " << cut;
  }
  open();
  for (char byte : script) session->received(std::string_view(&byte, 1));
  EXPECT_EQ(summary(), expected) << "byte by byte";
}

TEST_F(SessionTest, AnswersPingAfterWhatCameBeforeItWasDone) {
  connect();
  EXPECT_EQ(say("PING\r\n"), "PONG\r\n");
  EXPECT_EQ(say("SUB a 1\r\nPING\r\n"), "");
  all_done();
  EXPECT_EQ(wire.heard(), "PONG\r\n");
  EXPECT_EQ(say("PING\r\n"), "PONG\r\n");
}

TEST_F(SessionTest, SaysOkToTheVerbose) {
  open();
  EXPECT_EQ(say("CONNECT {}\r\n"), "+OK\r\n");
  EXPECT_EQ(say("SUB a 1\r\n"), "+OK\r\n");
  EXPECT_EQ(say("PUB a 1\r\nx\r\n"), "+OK\r\n");
  EXPECT_EQ(say("UNSUB 1\r\n"), "+OK\r\n");
}

TEST_F(SessionTest, WritesMessagesAsTheClientUnderstandsThem) {
  auto name = std::make_shared<const std::string>("9");
  auto both = std::make_shared<bus::Extras>("r.1", "NATS/1.0\r\nk: v\r\n\r\n");
  Reply plain{.kind = Reply::Kind::kMessage, .name = name, .subject = "a.b", .payload = "hey"};
  Reply rich = plain;
  rich.extras = both;
  connect();
  session->take(plain);
  EXPECT_EQ(wire.heard(), "MSG a.b 9 3\r\nhey\r\n");
  session->take(rich);
  EXPECT_EQ(wire.heard(), "HMSG a.b 9 r.1 18 21\r\nNATS/1.0\r\nk: v\r\n\r\nhey\r\n");
  connect(R"({"verbose":false})");
  session->take(rich);
  EXPECT_EQ(wire.heard(), "MSG a.b 9 r.1 3\r\nhey\r\n");
}

// --- What is refused -----------------------------------------------------------------------------

struct Refusal {
  std::string bytes;
  std::string error;
  bool closes = true;
};

TEST_F(SessionTest, TellsWhichMessagesTheSystemHas) {
  connect();
  auto message = [](uint64_t number) {
    return Reply{.kind = Reply::Kind::kMessage,
                 .client = 7,
                 .number = number,
                 .name = std::make_shared<const std::string>("s"),
                 .subject = "worker.w.jobs",
                 .payload = "job"};
  };
  session->take(message(4));
  session->take(message(0));
  session->take(message(9));
  const size_t all = info.size() + wire.heard().size();

  session->sent(info.size());
  EXPECT_TRUE(commands.empty());
  session->sent(all - info.size() - 1);  // all but the last byte
  ASSERT_EQ(commands.size(), 1u);
  EXPECT_EQ(commands[0].kind, Command::Kind::kWritten);
  EXPECT_EQ(commands[0].client, 7u);
  EXPECT_EQ(commands[0].written, 4u);
  session->sent(1);
  ASSERT_EQ(commands.size(), 2u);
  EXPECT_EQ(commands[1].written, 9u);
}

TEST_F(SessionTest, CutsOffWhoDoesNotTakeAJobThoughItSpeaks) {
  connect();
  session->take({.kind = Reply::Kind::kMessage,
                 .client = 7,
                 .number = 1,
                 .name = std::make_shared<const std::string>("s"),
                 .subject = "worker.w.jobs",
                 .payload = "job"});
  MonotonicTime now{};
  session->tick(now);
  session->tick(now += limits::kUnwrittenWait - 1s);
  say("PONG\r\n");
  EXPECT_FALSE(wire.closed);
  session->tick(now += 1s);
  EXPECT_TRUE(wire.closed);
}

TEST_F(SessionTest, SaysWhatIsWrong) {
  const std::string long_line(limits::kControlLineBytesMax + 1, 'x');
  const std::string long_subject(limits::kSubjectBytesMax + 1, 's');
  const Refusal refusals[] = {
      {"BOGUS\r\n", "Unknown Protocol Operation"},
      {"GET / HTTP/1.1\r\n", "Unknown Protocol Operation"},
      {"POST / HTTP/1.1\r\nHost: x\r\n\r\nPUB a 1\r\nx\r\n", "Unknown Protocol Operation"},
      {"CONNECT example.org:443 HTTP/1.1\r\n",
       "Invalid CONNECT: options of CONNECT are not a JSON object"},
      {"CONNECT {\"verbose\":1}\r\n", "Invalid CONNECT: verbose must be a boolean"},
      {"CONNECT {\"user\":1}\r\n", "Invalid CONNECT: user must be a text"},
      {std::string("\0\1\2\n", 4), "Unknown Protocol Operation"},
      {long_line, "Maximum Control Line Exceeded"},
      {"PUB a " + std::to_string(limits::kPacketBytesMax + 1) + "\r\n",
       "Maximum Payload Violation"},
      {"PUB a 99999999999999999999999\r\n", "Unknown Protocol Operation"},
      {"PUB a -1\r\n", "Unknown Protocol Operation"},
      {"PUB a\r\n", "Unknown Protocol Operation"},
      {"PUB\r\n", "Unknown Protocol Operation"},
      {"PUB a b 1 2\r\n", "Unknown Protocol Operation"},
      {"PUB a b c d e\r\n", "Unknown Protocol Operation"},
      {"PUB a 1\r\nxyz", "Unknown Protocol Operation"},
      {"HPUB a 5 4\r\n", "Unknown Protocol Operation"},
      {"HPUB a 4 4\r\nnope\r\n", "Invalid Message Headers"},
      {"HPUB a 65537 65537\r\n", "Maximum Header Size Exceeded"},
      {"SUB a\r\n", "Unknown Protocol Operation"},
      {"UNSUB\r\n", "Unknown Protocol Operation"},
      {"UNSUB 1 many\r\n", "Unknown Protocol Operation"},
      {"SUB a..b 1\r\n", "Invalid Subject", false},
      {"SUB a.>.b 1\r\n", "Invalid Subject", false},
      {"SUB " + long_subject + " 1\r\n", "Invalid Subject", false},
      {"SUB a " + long_subject + " 1\r\n", "Invalid Queue", false},
      {"SUB a " + std::string(65, '1') + "\r\n", "Invalid Subscription Id", false},
      {"PUB a.* 1\r\nx\r\n", "Invalid Publish Subject", false},
      {"PUB a reply.> 1\r\nx\r\n", "Invalid Publish Subject", false},
  };
  for (const Refusal& refusal : refusals) {
    wire = {};
    commands.clear();
    connect();
    EXPECT_EQ(say(refusal.bytes), "-ERR '" + refusal.error + "'\r\n") << refusal.bytes;
    EXPECT_EQ(wire.closed, refusal.closes) << refusal.bytes;
    EXPECT_TRUE(commands.empty()) << refusal.bytes;
    // What follows a broken line is not looked at.
    if (refusal.closes) EXPECT_EQ(say("PING\r\n"), "");
  }
}

TEST_F(SessionTest, RefusesHeadersOfAClientThatDidNotAnnounceThem) {
  connect(R"({"verbose":false})");
  EXPECT_EQ(say(hpub("a", kHeaders, "x")), "-ERR 'Message Headers Not Supported'\r\n");
  EXPECT_TRUE(wire.closed);
}

TEST_F(SessionTest, TakesTheLargestMessage) {
  connect();
  const std::string payload(limits::kPacketBytesMax, 'x');
  say("PUB a " + std::to_string(payload.size()) + "\r\n");
  say(payload);
  EXPECT_EQ(say("\r\n"), "");
  ASSERT_EQ(commands.size(), 1u);
  EXPECT_EQ(commands[0].message.payload, payload);
}

// --- Credentials ---------------------------------------------------------------------------------

TEST_F(SessionTest, AdmitsWhoShowsTheTokenOrTheUser) {
  settings.credentials = {.token = "secret", .user = "ann", .password = "pw"};
  for (const char* right : {R"({"verbose":false,"auth_token":"secret"})",
                            R"({"verbose":false,"user":"ann","pass":"pw"})",
                            R"({"verbose":false,"user":"ann","pass":"pw","auth_token":"wrong"})"}) {
    wire = {};
    connect(right);
    EXPECT_EQ(say("PING\r\n"), "PONG\r\n");
  }
  for (const char* wrong :
       {"CONNECT {}\r\n", "CONNECT {\"auth_token\":\"secre\"}\r\n",
        "CONNECT {\"auth_token\":\"secrets\"}\r\n", "CONNECT {\"user\":\"ann\"}\r\n",
        "CONNECT {\"user\":\"\",\"pass\":\"pw\"}\r\n", "PING\r\n", "PUB a 1\r\nx\r\n",
        "SUB > 1\r\n", "GET / HTTP/1.1\r\n"}) {
    wire = {};
    commands.clear();
    open();
    EXPECT_EQ(say(wrong), "-ERR 'Authorization Violation'\r\n") << wrong;
    EXPECT_TRUE(wire.closed);
    EXPECT_TRUE(commands.empty());
  }
}

TEST_F(SessionTest, DoesNotTakeAnEmptyTokenWhenOnlyAUserIsSet) {
  settings.credentials = {.user = "ann", .password = "pw"};
  open();
  EXPECT_EQ(say("CONNECT {\"auth_token\":\"\"}\r\n"), "-ERR 'Authorization Violation'\r\n");
  settings.credentials = {.token = "secret"};
  wire = {};
  open();
  EXPECT_EQ(say("CONNECT {\"user\":\"\",\"pass\":\"\"}\r\n"), "-ERR 'Authorization Violation'\r\n");
}

TEST_F(SessionTest, DoesNotWaitForeverForCredentials) {
  settings.credentials.token = "secret";
  open();
  session->tick(MonotonicTime(limits::kAuthenticationWait - 1us));
  EXPECT_FALSE(wire.closed);
  session->tick(MonotonicTime(limits::kAuthenticationWait));
  EXPECT_EQ(wire.heard(), "-ERR 'Authentication Timeout'\r\n");
  EXPECT_TRUE(wire.closed);
}

// --- Time and memory -----------------------------------------------------------------------------

TEST_F(SessionTest, PingsTheQuietAndGivesUpThoseWhoDoNotAnswer) {
  connect();
  MonotonicTime now{};
  session->tick(now);  // the CONNECT was heard
  session->tick(now += limits::kPingEvery);
  EXPECT_EQ(wire.heard(), "PING\r\n");
  EXPECT_EQ(say("PONG\r\n"), "");
  session->tick(now += limits::kPingEvery - 1s);
  EXPECT_EQ(wire.heard(), "");
  for (int i = 0; i < limits::kPingsUnansweredMax; ++i) {
    session->tick(now += limits::kPingEvery);
    EXPECT_EQ(wire.heard(), "PING\r\n");
  }
  session->tick(now += limits::kPingEvery);
  EXPECT_EQ(wire.heard(), "-ERR 'Stale Connection'\r\n");
  EXPECT_TRUE(wire.closed);
}

TEST_F(SessionTest, StopsReadingWhileTooMuchIsUndone) {
  connect();
  const std::string payload(limits::kPacketBytesMax, 'x');
  const std::string message = "PUB a " + std::to_string(payload.size()) + "\r\n" + payload + "\r\n";
  for (size_t i = 0; i < limits::kUndoneBytesMax / payload.size(); ++i) say(message);
  EXPECT_TRUE(wire.paused);
  all_done();
  EXPECT_FALSE(wire.paused);
  EXPECT_EQ(settings.undone_of_all, 0u);
}

TEST_F(SessionTest, StopsReadingWhileAllTogetherHaveTooMuchUndone) {
  connect();
  settings.undone_of_all = limits::kUndoneBytesOfAllMax;
  say("SUB a 1\r\nSUB a 2\r\n");
  EXPECT_TRUE(wire.paused);
  EXPECT_TRUE(settings.held_up);
  session->take({.kind = Reply::Kind::kDone, .client = 7, .cost = commands.back().cost});
  EXPECT_TRUE(wire.paused);
  settings.undone_of_all = commands.front().cost;
  session->resume_if_room();
  EXPECT_FALSE(wire.paused);
}

TEST_F(SessionTest, DoesNotWaitForOthersWithNothingUndoneAndHalfAMessage) {
  connect();
  say("SUB a 1\r\nPUB a 1000\r\nhalf");
  settings.undone_of_all += limits::kUndoneBytesOfAllMax;  // half messages of others
  say(" of it");
  EXPECT_TRUE(wire.paused);
  all_done();
  EXPECT_FALSE(wire.paused);
}

TEST_F(SessionTest, RefusesHalfAMessageWhenAllTogetherHoldTooMuch) {
  connect();
  settings.undone_of_all = 2 * limits::kUndoneBytesOfAllMax;
  say("PUB a 1000000\r\n");
  EXPECT_FALSE(wire.closed);
  EXPECT_EQ(say(std::string(500'000, 'x')), "-ERR 'Too Many Messages Half Received'\r\n");
  EXPECT_TRUE(wire.closed);
  session->closed();
  EXPECT_EQ(settings.undone_of_all, 2 * limits::kUndoneBytesOfAllMax);
}

TEST_F(SessionTest, CutsOffWhoDoesNotReadAnswers) {
  connect();
  wire.stuck = true;
  const std::string pong = "PONG\r\n";
  wire.output.assign(limits::kUnsentBytesMax - pong.size(), ' ');  // of earlier answers
  session->received("PING\r\n");
  EXPECT_FALSE(wire.closed) << "it may have as much unsent";
  session->received("PING\r\n");
  EXPECT_TRUE(wire.closed);
  EXPECT_TRUE(wire.output.ends_with("-ERR 'Slow Consumer'\r\n"));
}

TEST_F(SessionTest, CutsOffSlowOnesSoonerWhenAllTogetherHaveTooMuchUnsent) {
  connect();
  wire.stuck = true;
  *settings.backlog_of_all += limits::kUnsentBytesOfAllMax;
  say("PING\r\n");
  wire.output = "PONG\r\n";
  EXPECT_FALSE(wire.closed);
  session->take({.kind = Reply::Kind::kMessage,
                 .name = std::make_shared<const std::string>("1"),
                 .subject = "a",
                 .payload = std::string(limits::kUnsentBytesWhenFull, 'x')});
  EXPECT_TRUE(wire.closed);
}

TEST_F(SessionTest, LeavesNothingBehind) {
  connect();
  say("SUB a 1\r\nPUB a 1\r\nx\r\n");
  commands.back().backlog = nullptr;
  wire.stuck = true;
  say("PING\r\nPUB a 100\r\nhalf");
  session->closed();
  EXPECT_EQ(commands.back().kind, Kind::kGone);
  EXPECT_EQ(gone, std::vector<uint64_t>{7});
  EXPECT_EQ(settings.undone_of_all, 0u);
  session.reset();
  commands.clear();
  EXPECT_EQ(*settings.backlog_of_all, 0u);
}

}  // namespace
}  // namespace fairlead::edge::nats
