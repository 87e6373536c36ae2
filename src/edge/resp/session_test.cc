#include "edge/resp/session.h"

#include <vector>

#include <gtest/gtest.h>

namespace fairlead::edge::resp {
namespace {

using namespace std::chrono_literals;
using Kind = Request::Kind;

class RecordingWire final : public Wire {
 public:
  void send(std::string_view bytes) override {
    if (!closed) output.append(bytes);
  }
  size_t unsent() const override { return stuck ? output.size() : 0; }
  void close() override { closed = true; }
  void start_tls() override {}
  void pause() override { paused = true; }
  void resume() override { paused = false; }

  std::string output;
  bool stuck = false;
  bool closed = false;
  bool paused = false;
};

class RespSession : public testing::Test {
 protected:
  RespSession() {
    settings.backlog_of_all = std::make_shared<std::atomic<size_t>>(0);
    settings.hand_over = [this](Request request) { requests.push_back(std::move(request)); };
    settings.gone = [this](uint64_t) { ++gone; };
    open();
  }
  void open() {
    wire = {};
    requests.clear();
    session = std::make_unique<Session>(settings, wire, 5);
    session->opened(MonotonicTime{});
  }
  std::string say(std::string_view bytes) {
    session->received(bytes);
    return std::exchange(wire.output, {});
  }
  void answer(size_t request, std::string bytes) {
    session->take({.client = 5,
                   .slot = requests[request].slot,
                   .cost = requests[request].cost,
                   .bytes = std::move(bytes)});
  }

  SessionSettings settings;
  RecordingWire wire;
  std::unique_ptr<Session> session;
  std::vector<Request> requests;
  int gone = 0;
};

std::string command(const std::vector<std::string>& words) {
  std::string text = array(words.size());
  for (const std::string& word : words) text += bulk(word);
  return text;
}

TEST_F(RespSession, AnswersWhatNeedsNoStore) {
  EXPECT_EQ(say(command({"PING"})), "+PONG\r\n");
  EXPECT_EQ(say(command({"ping", "hey"})), "$3\r\nhey\r\n");
  EXPECT_EQ(say("PING\r\n"), "+PONG\r\n");
  EXPECT_EQ(say("echo \"a b\\x41\\n\"\r\n"), "$5\r\na bA\n\r\n");
  EXPECT_EQ(say("echo 'it\\'s'\n"), "$4\r\nit's\r\n");
  EXPECT_EQ(say("\r\n*0\r\n*-1\r\nPING\r\n"), "+PONG\r\n");
  EXPECT_EQ(say("SELECT 0\r\n"), "+OK\r\n");
  EXPECT_EQ(say("SELECT 1\r\n"), "-ERR DB index is out of range\r\n");
  EXPECT_EQ(say("CLIENT SETNAME me\r\n"), "+OK\r\n");
  EXPECT_EQ(say("CLIENT GETNAME\r\n"), "$2\r\nme\r\n");
  EXPECT_EQ(say("CLIENT ID\r\n"), ":5\r\n");
  EXPECT_EQ(say("CLIENT SETINFO LIB-NAME x\r\n"), "+OK\r\n");
  EXPECT_EQ(say("COMMAND DOCS\r\n"), "*0\r\n");
  EXPECT_EQ(say("COMMAND\r\n"), "*0\r\n");
  EXPECT_NE(say("INFO\r\n").find("redis_version:7.0.0"), std::string::npos);
}

TEST_F(RespSession, SpeaksTheVersionThatWasChosen) {
  EXPECT_TRUE(say("HELLO\r\n").starts_with("*14\r\n$6\r\nserver\r\n$5\r\nredis\r\n"));
  EXPECT_TRUE(say("HELLO 3 SETNAME me\r\n").starts_with("%7\r\n"));
  EXPECT_EQ(say("CLIENT GETNAME\r\n"), "$2\r\nme\r\n");
  EXPECT_EQ(say("COMMAND DOCS\r\n"), "%0\r\n");
  say(command({"GET", "ctx:a"}));
  EXPECT_EQ(requests[0].version, Version::kThree);
  EXPECT_EQ(say("HELLO 4\r\nHELLO 2 BOGUS\r\n"), "") << "they wait behind the GET";
  answer(0, "_\r\n");
  EXPECT_EQ(wire.output,
            "_\r\n-NOPROTO unsupported protocol version\r\n"
            "-ERR Syntax error in HELLO option 'BOGUS'\r\n");
}

TEST_F(RespSession, HandsOverWhatNeedsTheStore) {
  say(command({"set", "ctx:a", "value"}) + command({"SET", "res:a", "v", "EX", "10", "NX"}) +
      command({"SET", "art:a", "v", "XX", "PX", "1500"}) + command({"SETEX", "mem:a", "7", "v"}) +
      command({"PSETEX", "ctx:a", "7", "v"}) + command({"DEL", "ctx:a", "ctx:b"}) +
      command({"EXISTS", "ctx:a"}) + command({"EXPIRE", "ctx:a", "60"}) +
      command({"EXPIRE", "ctx:a", "-1"}) + command({"TTL", "ctx:a"}) + command({"PTTL", "ctx:a"}) +
      command({"STRLEN", "ctx:a"}) + command({"MGET", "ctx:a", "ctx:b"}) +
      command({"GET", "ctx:a"}));
  const Kind kinds[] = {Kind::kSet,    Kind::kSet,    Kind::kSet,     Kind::kSet,    Kind::kSet,
                        Kind::kErase,  Kind::kCount,  Kind::kExpire,  Kind::kExpire, Kind::kSeconds,
                        Kind::kMillis, Kind::kLength, Kind::kGetMany, Kind::kGet};
  ASSERT_EQ(requests.size(), std::size(kinds));
  for (size_t i = 0; i < requests.size(); ++i) {
    EXPECT_EQ(requests[i].kind, kinds[i]) << i;
    EXPECT_EQ(requests[i].slot, i);
  }
  EXPECT_EQ(requests[0].value, "value");
  EXPECT_EQ(requests[0].ttl, std::nullopt);
  EXPECT_EQ(requests[1].ttl, 10s);
  EXPECT_EQ(requests[1].condition, store::BlobCondition::kIfAbsent);
  EXPECT_EQ(requests[2].ttl, 1500ms);
  EXPECT_EQ(requests[2].condition, store::BlobCondition::kIfPresent);
  EXPECT_EQ(requests[3].ttl, 7s);
  EXPECT_EQ(requests[4].ttl, 7ms);
  EXPECT_EQ(requests[5].keys, (std::vector<std::string>{"ctx:a", "ctx:b"}));
  EXPECT_EQ(requests[7].ttl, 60s);
  EXPECT_EQ(requests[8].ttl, std::nullopt);
}

TEST_F(RespSession, AnswersInTheOrderOfTheQuestions) {
  EXPECT_EQ(say(command({"GET", "ctx:a"}) + command({"PING"}) + command({"GET", "ctx:b"})), "");
  answer(1, "$1\r\nb\r\n");
  EXPECT_EQ(wire.output, "");
  answer(0, "$1\r\na\r\n");
  EXPECT_EQ(std::exchange(wire.output, {}), "$1\r\na\r\n+PONG\r\n$1\r\nb\r\n");
}

TEST_F(RespSession, QuitsAfterTheLastAnswer) {
  say(command({"GET", "ctx:a"}) + command({"QUIT"}) + command({"PING"}));
  EXPECT_FALSE(wire.closed);
  answer(0, "$1\r\na\r\n");
  EXPECT_EQ(wire.output, "$1\r\na\r\n+OK\r\n");
  EXPECT_TRUE(wire.closed);
}

TEST_F(RespSession, UnderstandsTheSameWhereverTheBytesAreCut) {
  const std::string script = command({"SET", "ctx:a", std::string("\r\n\0*1\r\n", 7), "PX", "5"}) +
                             "PING\r\n" + command({"GET", "ctx:b"}) + "ECHO 'x y'\r\n";
  auto summary = [&] {
    std::string text = wire.output;
    for (const Request& request : requests) {
      text += std::to_string(static_cast<int>(request.kind)) + request.keys[0] + request.value;
    }
    for (size_t i = 0; i < requests.size(); ++i) answer(i, "+" + std::to_string(i) + "\r\n");
    return text + wire.output;
  };
  session->received(script);
  const std::string expected = summary();
  EXPECT_NE(expected.find("$3\r\nx y"), std::string::npos);
  for (size_t cut = 1; cut < script.size(); ++cut) {
    open();
    session->received(std::string_view(script).substr(0, cut));
    session->received(std::string_view(script).substr(cut));
    EXPECT_EQ(summary(), expected) << cut;
  }
  open();
  for (char byte : script) session->received(std::string_view(&byte, 1));
  EXPECT_EQ(summary(), expected);
}

TEST_F(RespSession, SaysWhatIsWrongAndGoesOn) {
  const std::pair<std::string, std::string> refusals[] = {
      {"BOGUS\r\n", "ERR unknown command 'BOGUS'"},
      {"FLUSHALL\r\n", "ERR unknown command 'FLUSHALL'"},
      {"GET\r\n", "ERR wrong number of arguments for 'get' command"},
      {"GET ctx:a ctx:b\r\n", "ERR wrong number of arguments for 'get' command"},
      {"ECHO\r\n", "ERR wrong number of arguments for 'echo' command"},
      {"GET job:1\r\n",
       "ERR key 'job:1' is not served here: keys begin with ctx:, res:, art: or mem:"},
      {"GET ctx:\r\n",
       "ERR key 'ctx:' is not served here: keys begin with ctx:, res:, art: or mem:"},
      {"MGET ctx:a job:1\r\n",
       "ERR key 'job:1' is not served here: keys begin with ctx:, res:, art: or mem:"},
      {"GET ctx:" + std::string(limits::kPayloadKeyBytesMax, 'x') + "\r\n", "ERR key is too long"},
      {"SET ctx:a v EX 0\r\n", "ERR invalid expire time in 'set' command"},
      {"SET ctx:a v EX -5\r\n", "ERR invalid expire time in 'set' command"},
      {"SET ctx:a v EX 9999999999999\r\n", "ERR invalid expire time in 'set' command"},
      {"SET ctx:a v EX soon\r\n", "ERR value is not an integer or out of range"},
      {"SET ctx:a v EX\r\n", "ERR syntax error"},
      {"SET ctx:a v EX 1 PX 1\r\n", "ERR syntax error"},
      {"SET ctx:a v NX XX\r\n", "ERR syntax error"},
      {"SET ctx:a v bogus\r\n", "ERR syntax error"},
      {"SET ctx:a v KEEPTTL\r\n", "ERR option KEEPTTL of SET is not served here"},
      {"SET ctx:a v GET\r\n", "ERR option GET of SET is not served here"},
      {"SETEX ctx:a 0 v\r\n", "ERR invalid expire time in 'setex' command"},
      {"EXPIRE ctx:a 10 NX\r\n", "ERR options of EXPIRE are not served here"},
      {"EXPIRE ctx:a soon\r\n", "ERR value is not an integer or out of range"},
      {"CLIENT BOGUS\r\n", "ERR unknown subcommand or wrong number of arguments for 'BOGUS'"},
      {"CLIENT SETNAME 'a b'\r\n",
       "ERR Client names cannot contain spaces, newlines or special characters."},
  };
  for (const auto& [bytes, error] : refusals) {
    EXPECT_EQ(say(bytes), "-" + error + "\r\n") << bytes;
    EXPECT_FALSE(wire.closed) << bytes;
  }
  EXPECT_TRUE(requests.empty());
}

TEST_F(RespSession, ClosesWhatIsNotTheProtocol) {
  const std::pair<std::string, std::string> refusals[] = {
      {"*x\r\n", "-ERR Protocol error: invalid multibulk length\r\n"},
      {"*100000\r\n", "-ERR Protocol error: invalid multibulk length\r\n"},
      {"*99999999999999999999\r\n", "-ERR Protocol error: invalid multibulk length\r\n"},
      {"*1\r\n:5\r\n", "-ERR Protocol error: expected '$'\r\n"},
      {"*1\r\n$-1\r\n", "-ERR Protocol error: invalid bulk length\r\n"},
      {"*1\r\n$" + std::to_string(limits::kBlobBytesMax + 1) + "\r\n",
       "-ERR Protocol error: invalid bulk length\r\n"},
      {"*1\r\n$1\r\nxyz", "-ERR Protocol error: expected end of line\r\n"},
      {"echo 'open\r\n", "-ERR Protocol error: unbalanced quotes in request\r\n"},
      {"echo \"a\"b\r\n", "-ERR Protocol error: unbalanced quotes in request\r\n"},
      {std::string(limits::kInlineCommandBytesMax + 1, 'x'),
       "-ERR Protocol error: too big inline request\r\n"},
      {"GET / HTTP/1.1\r\nHost: here\r\n\r\n", ""},
      {"POST /x HTTP/1.1\r\n\r\nPING\r\n", ""},
      {"Host: here\r\n", ""},
      {"OPTIONS * HTTP/1.1\r\n", ""},
  };
  for (const auto& [bytes, expected] : refusals) {
    open();
    EXPECT_EQ(say(bytes), expected) << bytes;
    EXPECT_TRUE(wire.closed) << bytes;
    EXPECT_EQ(say("PING\r\n"), "") << bytes;
    EXPECT_TRUE(requests.empty()) << bytes;
  }
}

// --- Credentials ---------------------------------------------------------------------------------

TEST_F(RespSession, AdmitsWhoShowsThePasswordOrTheToken) {
  settings.credentials = {.token = "secret", .user = "ann", .password = "pw"};
  for (const char* right :
       {"AUTH secret\r\n", "AUTH pw\r\n", "AUTH ann pw\r\n", "AUTH default secret\r\n",
        "HELLO 3 AUTH ann pw\r\n", "HELLO 2 AUTH default secret SETNAME x\r\n"}) {
    open();
    EXPECT_EQ(say("PING\r\n"), "-NOAUTH Authentication required.\r\n");
    EXPECT_FALSE(say(right).starts_with("-")) << right;
    EXPECT_EQ(say("PING\r\n"), "+PONG\r\n") << right;
  }
  for (const char* wrong :
       {"AUTH wrong\r\n", "AUTH ann secret\r\n", "AUTH bob pw\r\n", "AUTH ''\r\n",
        "HELLO 3 AUTH ann wrong\r\n", "HELLO 3 AUTH ann secret\r\n"}) {
    open();
    EXPECT_EQ(say(wrong), "-WRONGPASS invalid username-password pair or user is disabled.\r\n")
        << wrong;
    EXPECT_EQ(say("GET ctx:a\r\n"), "-NOAUTH Authentication required.\r\n");
  }
  open();
  EXPECT_TRUE(say("HELLO 3\r\n").starts_with("-NOAUTH HELLO must be called"));
  EXPECT_EQ(say("*11\r\n"), "-ERR Protocol error: unauthenticated multibulk length\r\n");
  open();
  EXPECT_EQ(say("*2\r\n$4\r\nAUTH\r\n$20000\r\n"),
            "-ERR Protocol error: unauthenticated bulk length\r\n");
}

TEST_F(RespSession, SaysThatNoPasswordIsSet) {
  EXPECT_TRUE(say("AUTH x\r\n").starts_with("-ERR AUTH <password> called without any password"));
  EXPECT_EQ(say("AUTH default x\r\n"), "+OK\r\n");
}

TEST_F(RespSession, DoesNotWaitForeverForCredentials) {
  settings.credentials.token = "secret";
  open();
  session->tick(MonotonicTime(limits::kAuthenticationWait - 1us));
  EXPECT_FALSE(wire.closed);
  session->tick(MonotonicTime(limits::kAuthenticationWait));
  EXPECT_TRUE(wire.closed);
}

// --- Memory --------------------------------------------------------------------------------------

TEST_F(RespSession, StopsReadingWhileTooMuchIsUndone) {
  const std::string get = command({"GET", "ctx:a"});
  for (size_t i = 0; i <= limits::kPipelineMax; ++i) say(get);
  EXPECT_TRUE(wire.paused);
  for (size_t i = 0; i < requests.size(); ++i) answer(i, "+x\r\n");
  EXPECT_FALSE(wire.paused);
  open();
  say(command({"SET", "ctx:a", std::string(limits::kUndoneBytesMax, 'x')}));
  EXPECT_TRUE(wire.paused);
  answer(0, "+OK\r\n");
  EXPECT_FALSE(wire.paused);
  EXPECT_EQ(settings.undone_of_all, 0u);
}

TEST_F(RespSession, RefusesHalfACommandWhenAllTogetherHoldTooMuch) {
  settings.undone_of_all = 2 * limits::kUndoneBytesOfAllMax;
  say("*3\r\n$3\r\nSET\r\n$5\r\nctx:a\r\n$1000000\r\n");
  EXPECT_FALSE(wire.closed);
  EXPECT_EQ(say(std::string(500'000, 'x')),
            "-ERR too many payloads are on their way: try again later\r\n");
  EXPECT_TRUE(wire.closed);
  session->closed();
  EXPECT_EQ(settings.undone_of_all, 2 * limits::kUndoneBytesOfAllMax);
}

TEST_F(RespSession, CutsOffWhoDoesNotReadAnswers) {
  wire.stuck = true;
  const std::string echo = command({"ECHO", std::string(1'000'000, 'x')});
  for (size_t i = 0; i <= limits::kUnsentBytesMax / 1'000'000 && !wire.closed; ++i) {
    session->received(echo);
  }
  EXPECT_TRUE(wire.closed);
}

TEST_F(RespSession, LeavesNothingBehind) {
  say(command({"GET", "ctx:a"}) + "*2\r\n$3\r\nGET\r\n$100\r\nhalf");
  session->closed();
  EXPECT_EQ(gone, 1);
  EXPECT_EQ(requests.back().kind, Kind::kGone);
  EXPECT_EQ(settings.undone_of_all, 0u);
  session.reset();
  requests.clear();
  EXPECT_EQ(*settings.backlog_of_all, 0u);
}

}  // namespace
}  // namespace fairlead::edge::resp
