#include <fmt/core.h>

#include "edge/http/server_fixture.h"
#include "store/contract/store_test.h"
#include "store/rocksdb/rocks_store.h"

namespace fairlead::http {
namespace {

bool has(const std::string& text, std::string_view part) {
  return text.find(part) != text.npos;
}

TEST_F(ServerTest, AnswersOverOneConnectionOneRequestAfterTheOther) {
  start();
  RawClient client(port_);
  // Both at once, and the second in two parts.
  std::string submit = request("POST /api/v1/jobs", R"({"prompt":"p"})");
  client.send(request("GET /healthz") + submit.substr(0, 20));
  client.send(submit.substr(20));
  std::string health = client.read_answer();
  EXPECT_TRUE(health.starts_with("HTTP/1.1 200 OK\r\n"));
  EXPECT_TRUE(has(health, "X-Content-Type-Options: nosniff"));
  EXPECT_TRUE(has(health, "Content-Security-Policy: default-src 'none'"));
  EXPECT_TRUE(has(health, "X-Request-Id: "));
  std::string submitted = client.read_answer();
  EXPECT_TRUE(has(submitted, "X-Trace-Id: "));
  std::string job = field(submitted, "job_id");
  client.send(request("GET /api/v1/jobs/" + job));
  EXPECT_TRUE(has(client.read_answer(), "\"state\":\"PENDING\""));
  client.send("GET /healthz HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n");
  EXPECT_TRUE(has(client.read_all(), "Connection: close"));
}

TEST_F(ServerTest, EchoesARequestIdAndNothingThatWouldBreakALine) {
  start();
  RawClient client(port_);
  client.send("GET /healthz HTTP/1.1\r\nHost: localhost\r\nX-Request-Id: abc-1\r\n\r\n");
  EXPECT_TRUE(has(client.read_answer(), "X-Request-Id: abc-1\r\n"));
}

TEST_F(ServerTest, HeadHasNoBodyAndUnknownVerbsAreRefused) {
  start();
  RawClient client(port_);
  client.send(request("HEAD /healthz"));
  std::string head = client.read_until("\r\n\r\n");
  EXPECT_TRUE(head.starts_with("HTTP/1.1 200"));
  client.send(request("GET /nope"));
  EXPECT_TRUE(client.read_answer().starts_with("HTTP/1.1 404")) << "nothing stood between";
  client.send(request("TRACE /healthz"));
  EXPECT_TRUE(client.read_answer().starts_with("HTTP/1.1 501"));
}

TEST_F(ServerTest, WhatIsNoHttpIsAnsweredAndClosed) {
  start();
  RawClient client(port_);
  client.send("\x16\x03\x01 nonsense\r\n\r\n");
  EXPECT_TRUE(client.read_all().starts_with("HTTP/1.1 400"));
}

TEST_F(ServerTest, ALargeBodyIsRefusedBeforeItIsRead) {
  ServerSettings settings;
  settings.job_bytes_max = 100;
  start(settings);
  RawClient client(port_);
  client.send("POST /api/v1/jobs HTTP/1.1\r\nHost: localhost\r\nContent-Length: 101\r\n\r\n");
  std::string answer = client.read_answer();
  EXPECT_TRUE(answer.starts_with("HTTP/1.1 413")) << answer;
  EXPECT_TRUE(has(answer, "body_too_large"));
  RawClient chunked(port_);
  chunked.send(
      "POST /api/v1/jobs HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n"
      "80\r\n" +
      std::string(128, 'x') + "\r\n");
  EXPECT_TRUE(chunked.read_answer().starts_with("HTTP/1.1 413"));
}

TEST_F(ServerTest, LargeHeadersAreRefused) {
  start();
  RawClient client(port_);
  client.send("GET /healthz HTTP/1.1\r\nHost: localhost\r\nX-Long: " +
              std::string(2 * limits::kHttpHeaderBytesMax, 'x') + "\r\n\r\n");
  EXPECT_TRUE(client.read_all().starts_with("HTTP/1.1 431"));
}

TEST_F(ServerTest, AClientThatSaysNothingOrHalfIsLetGo) {
  ServerSettings settings;
  settings.timeouts.idle = 30ms;
  settings.timeouts.header = 30ms;
  settings.timeouts.read = 30ms;
  settings.timeouts.sweep_every = 5ms;
  start(settings);
  RawClient silent(port_), half_head(port_), half_body(port_);
  half_head.send("GET /heal");
  half_body.send("POST /api/v1/jobs HTTP/1.1\r\nHost: localhost\r\nContent-Length: 10\r\n\r\n{");
  EXPECT_TRUE(silent.ended());
  EXPECT_TRUE(half_head.ended());
  EXPECT_TRUE(half_body.ended());
}

TEST_F(ServerTest, BeyondTheMostConnectionsOneIsToldToComeBack) {
  ServerSettings settings;
  settings.connections_max = 1;
  start(settings);
  RawClient first(port_);
  first.send(request("GET /healthz"));
  ASSERT_TRUE(first.read_answer().starts_with("HTTP/1.1 200"));
  RawClient second(port_);
  std::string answer = second.read_all();
  EXPECT_TRUE(answer.starts_with("HTTP/1.1 503"));
  EXPECT_TRUE(has(answer, "Retry-After: 5"));
}

TEST_F(ServerTest, ManyConnectionsToOneListenerLeaveTheOthersTheirs) {
  ServerSettings settings;
  settings.connections_max = 1;
  start(settings);
  RawClient first(port_);
  first.send(request("GET /healthz"));
  ASSERT_TRUE(first.read_answer().starts_with("HTTP/1.1 200"));
  ASSERT_TRUE(RawClient(port_).read_all().starts_with("HTTP/1.1 503"));
  listen_to({});
  EXPECT_TRUE(ask("GET /healthz").starts_with("HTTP/1.1 200"));
}

TEST_F(ServerTest, TheBytesOfAnswersUnderWayAreBounded) {
  static constexpr size_t kLarge = 32 << 20;  // more than sockets hold
  ServerSettings settings;
  settings.answer_bytes_max = kLarge + kLarge / 2;
  auto large_route = [](const char* path, Reader read) {
    return Route{Method::kGet, path, Access::kPublic, read, {}};
  };
  Routes routes;
  routes.push_back(large_route("/made", [](Request&, ReadTools&) -> std::expected<Call, Reply> {
    return [](Backend&) -> Task<Reply> {
      Reply reply;
      reply.body = std::string(kLarge, 'x');
      co_return reply;
    };
  }));
  routes.push_back(large_route("/later", [](Request&, ReadTools&) -> std::expected<Call, Reply> {
    return [](Backend&) -> Task<Reply> {
      Reply reply;
      reply.render = [] { return std::string(kLarge, 'x'); };
      co_return reply;
    };
  }));
  routes.push_back(large_route("/small", [](Request&, ReadTools&) -> std::expected<Call, Reply> {
    return [](Backend&) -> Task<Reply> { co_return reply_json(200, {{"small", true}}); };
  }));
  ListenSettings listen;
  listen.api = std::make_shared<const Api>(std::move(routes));
  start(settings, listen);
  for (const char* path : {"GET /made", "GET /later"}) {
    RawClient slow(port_);
    slow.send(request(path));
    ASSERT_TRUE(slow.read_until("\r\n\r\n").starts_with("HTTP/1.1 200"));
    for (const char* another : {"GET /made", "GET /later"}) {
      std::string refused = ask(another);
      EXPECT_TRUE(refused.starts_with("HTTP/1.1 503")) << refused.substr(0, 300);
      EXPECT_TRUE(has(refused, "Retry-After: 1"));
    }
    EXPECT_TRUE(ask("GET /small").starts_with("HTTP/1.1 200"));
    EXPECT_EQ(slow.read_bytes(kLarge).size(), kLarge);
    slow.send(request("GET /small"));  // served once the first answer is sent
    ASSERT_TRUE(slow.read_answer().starts_with("HTTP/1.1 200"));
    EXPECT_EQ(ask(path).size() > kLarge, true) << "there is room again";
  }
}

// Keeps what it is told.
class KeptLog final : public Log {
 public:
  void write(Level level, std::string_view phrase, std::initializer_list<Field> fields) override {
    std::lock_guard lock(mutex_);
    std::string line(phrase);
    for (const auto& [name, value] : fields) {
      line.append(" ").append(name).append("=").append(value);
    }
    if (level >= Level::kWarning) lines_.push_back(std::move(line));
  }
  std::vector<std::string> lines() {
    std::lock_guard lock(mutex_);
    return lines_;
  }

 private:
  std::mutex mutex_;
  std::vector<std::string> lines_;
};

TEST_F(ServerTest, WhatACallerIsNotToldOfAFailureIsLogged) {
  Routes routes;
  auto route = [](const char* path, Reader read) {
    return Route{Method::kGet, path, Access::kPublic, read, {}};
  };
  routes.push_back(route("/store", [](Request&, ReadTools&) -> std::expected<Call, Reply> {
    return [](Backend&) -> Task<Reply> {
      co_return problem_of({ErrorCode::kUnavailable, "disk 7 is on fire"});
    };
  }));
  routes.push_back(route("/throws", [](Request&, ReadTools&) -> std::expected<Call, Reply> {
    return [](Backend&) -> Task<Reply> { throw std::runtime_error("no such luck"); };
  }));
  routes.push_back(route("/caller", [](Request&, ReadTools&) -> std::expected<Call, Reply> {
    return
        [](Backend&) -> Task<Reply> { co_return problem_of({ErrorCode::kInvalid, "your fault"}); };
  }));
  auto log = std::make_shared<KeptLog>();
  log_ = log;
  ListenSettings listen;
  listen.api = std::make_shared<const Api>(std::move(routes));
  start({}, listen);
  RawClient client(port_);
  for (const char* path : {"/store", "/throws", "/caller"}) {
    client.send(fmt::format("GET {} HTTP/1.1\r\nHost: localhost\r\nX-Request-Id: r{}\r\n\r\n", path,
                            path + 1));
    EXPECT_EQ(client.read_answer().find("fire"), std::string::npos);
  }
  EXPECT_EQ(log->lines(),
            (std::vector<std::string>{
                "request failed method=GET path=/store request_id=rstore status=503 error=the "
                "store did not answer: disk 7 is on fire others_not_logged=0",
                "request failed method=GET path=/throws request_id=rthrows status=500 error=no "
                "such luck others_not_logged=0"}));
}

TEST_F(ServerTest, AConnectionThatFailsIsForgottenAndTheOthersGoOn) {
  Routes routes;
  routes.push_back(Route{Method::kGet,
                         "/throws",
                         Access::kPublic,
                         [](Request&, ReadTools&) -> std::expected<Call, Reply> {
                           throw std::runtime_error("no such luck");
                         },
                         {}});
  routes.push_back(Route{Method::kGet,
                         "/good",
                         Access::kPublic,
                         [](Request&, ReadTools&) -> std::expected<Call, Reply> {
                           return [](Backend&) -> Task<Reply> { co_return reply_json(200, 1); };
                         },
                         {}});
  ServerSettings settings;
  settings.connections_max = 2;
  settings.timeouts.sweep_every = 1ms;
  ListenSettings listen;
  listen.api = std::make_shared<const Api>(std::move(routes));
  start(settings, listen);
  RawClient other(port_);
  for (int i = 0; i < 20; ++i) {
    EXPECT_EQ(ask("GET /throws"), "");
    other.send(request("GET /good"));
    EXPECT_TRUE(other.read_answer().starts_with("HTTP/1.1 200"));
  }
}

TEST_F(ServerTest, ExpectContinueIsAnswered) {
  start();
  RawClient client(port_);
  client.send(
      "POST /api/v1/jobs HTTP/1.1\r\nHost: localhost\r\nContent-Length: 14\r\n"
      "Expect: 100-continue\r\n\r\n");
  EXPECT_EQ(client.read_until("\r\n\r\n"), "HTTP/1.1 100 Continue\r\n\r\n");
  client.send(R"({"prompt":"p"})");
  EXPECT_TRUE(client.read_answer().starts_with("HTTP/1.1 200"));
}

TEST_F(ServerTest, ARequestIsRefusedByItsHeadBeforeAByteOfItsBodyIsSent) {
  ListenSettings listen;
  auto keys = std::make_shared<ApiKeys>();
  ASSERT_TRUE(keys->add_all("acme:k1:viewer").has_value());
  listen.keys = keys;
  start({}, listen);
  const std::string key = "X-API-Key: k1\r\n";
  const std::string host = " HTTP/1.1\r\nHost: x\r\nContent-Length: 1000000\r\n";
  const std::pair<std::string, std::string> all[] = {
      {"401", "POST /api/v1/jobs" + host},
      {"401", "POST /api/v1/nothing" + host},
      {"403", "POST /api/v1/jobs" + host + key},
      {"403", "POST /api/v1/jobs" + host + key + "X-Tenant-ID: globex\r\n"},
      {"403", "POST /api/v1/jobs" + host + key + "Origin: https://evil.example\r\n"},
      {"404", "POST /api/v1/nothing" + host + key},
      {"405", "PUT /api/v1/jobs" + host + key},
      {"501", "TRACE /api/v1/jobs" + host + key},
  };
  for (const auto& [status, head] : all) {
    for (const char* expect : {"", "Expect: 100-continue\r\n"}) {
      RawClient client(port_);
      client.send(head + expect + "\r\n");
      std::string answer = client.read_all();
      EXPECT_TRUE(answer.starts_with("HTTP/1.1 " + status)) << head << answer;
      EXPECT_TRUE(has(answer, "Connection: close")) << answer;
    }
  }
}

TEST_F(ServerTest, ASmallBodyOfARefusedRequestIsSkippedAndTheConnectionGoesOn) {
  start();
  RawClient client(port_);
  client.send("POST /api/v1/nothing HTTP/1.1\r\nHost: localhost\r\nContent-Length: 14\r\n\r\n");
  std::string refused = client.read_answer();
  EXPECT_TRUE(refused.starts_with("HTTP/1.1 404")) << refused;
  EXPECT_TRUE(has(refused, "Connection: keep-alive"));
  client.send(R"({"prompt":"p"})" + request("GET /healthz"));
  EXPECT_TRUE(client.read_answer().starts_with("HTTP/1.1 200")) << "nothing stood between";
  client.send(
      "POST /api/v1/nothing HTTP/1.1\r\nHost: localhost\r\nContent-Length: 14\r\n"
      "Expect: 100-continue\r\n\r\n");
  EXPECT_TRUE(has(client.read_all(), "Connection: close")) << "it may send the body, or not";
}

TEST_F(ServerTest, ARequestWhoseBodyEndsWhileTheServerStopsIsRefused) {
  start();
  RawClient client(port_);
  client.send(
      "POST /api/v1/jobs HTTP/1.1\r\nHost: localhost\r\nContent-Length: 14\r\n"
      "Expect: 100-continue\r\n\r\n");
  ASSERT_EQ(client.read_until("\r\n\r\n"), "HTTP/1.1 100 Continue\r\n\r\n");
  auto stop = [](Server& server) -> Task<Result<void>> {
    co_await server.stop(1s);
    co_return Result<void>{};
  };
  ASSERT_TRUE(finish(stop(*server_)));
  client.send(R"({"prompt":"p"})");
  std::string answer = client.read_all();
  EXPECT_TRUE(answer.starts_with("HTTP/1.1 503")) << answer;
  EXPECT_TRUE(on_loop([&] { return store_.all().empty(); }));
}

TEST_F(ServerTest, ForeignPagesAndHostsAreRefusedWithoutKeys) {
  start();
  RawClient client(port_);
  client.send(
      "POST /api/v1/jobs HTTP/1.1\r\nHost: localhost\r\nOrigin: https://evil.example\r\n"
      "Content-Length: 14\r\n\r\n{\"prompt\":\"p\"}");
  EXPECT_TRUE(client.read_answer().starts_with("HTTP/1.1 403"));
  client.send("GET /api/v1/jobs HTTP/1.1\r\nHost: rebound.example\r\n\r\n");
  EXPECT_TRUE(client.read_answer().starts_with("HTTP/1.1 403"));
}

TEST_F(ServerTest, KeysAreDemandedAndReplaced) {
  ListenSettings listen;
  auto keys = std::make_shared<ApiKeys>();
  ASSERT_TRUE(keys->add_all("acme:k1:viewer").has_value());
  listen.keys = keys;
  start({}, listen);
  EXPECT_TRUE(ask("GET /api/v1/jobs").starts_with("HTTP/1.1 401"));
  EXPECT_TRUE(ask("GET /healthz").starts_with("HTTP/1.1 200"));
  RawClient client(port_);
  client.send("GET /api/v1/jobs HTTP/1.1\r\nHost: x\r\nX-API-Key: k1\r\n\r\n");
  EXPECT_TRUE(client.read_answer().starts_with("HTTP/1.1 200"));
  client.send(
      "POST /api/v1/jobs HTTP/1.1\r\nHost: x\r\nX-API-Key: k1\r\nContent-Length: 2\r\n\r\n{}");
  EXPECT_TRUE(client.read_answer().starts_with("HTTP/1.1 403"));
  auto others = std::make_shared<ApiKeys>();
  ASSERT_TRUE(others->add_single("k2").has_value());
  on_loop([&] {
    server_->set_keys(others);
    return true;
  });
  client.send("GET /api/v1/jobs HTTP/1.1\r\nHost: x\r\nX-API-Key: k1\r\n\r\n");
  EXPECT_TRUE(client.read_answer().starts_with("HTTP/1.1 401"));
}

TEST_F(ServerTest, AnAddressBeyondThisMachineNeedsKeys) {
  start();
  ListenSettings listen;
  listen.address = "0.0.0.0";
  listen.api = std::make_shared<const Api>();
  auto port = on_loop([&] { return server_->listen(listen); });
  ASSERT_FALSE(port.has_value());
  EXPECT_TRUE(has(port.error().message, "needs API keys"));
}

TEST_F(ServerTest, ManyClientsAreServedAtOnce) {
  start();
  std::vector<std::unique_ptr<RawClient>> clients;
  for (int i = 0; i < 50; ++i) clients.push_back(std::make_unique<RawClient>(port_));
  for (int round = 0; round < 4; ++round) {
    for (auto& client : clients) client->send(request("POST /api/v1/jobs", R"({"prompt":"p"})"));
    for (auto& client : clients) {
      EXPECT_TRUE(client->read_answer().starts_with("HTTP/1.1 200"));
    }
  }
  EXPECT_EQ(on_loop([&] { return store_.all().size(); }), 200u);
}

TEST_F(ServerTest, HeadersThatAreNoUtf8AreRefusedAndNoJobIsMade) {
  start();
  for (const char* header : {"X-Principal-Id", "X-Tenant-ID", "Idempotency-Key", "User-Agent"}) {
    RawClient client(port_);
    client.send("POST /api/v1/jobs HTTP/1.1\r\nHost: localhost\r\n" + std::string(header) +
                ": k\xff\r\nContent-Length: 14\r\n\r\n{\"prompt\":\"p\"}");
    std::string answer = client.read_answer();
    EXPECT_TRUE(answer.starts_with("HTTP/1.1 400")) << answer;
    EXPECT_TRUE(has(answer, std::string(header) + " is not UTF-8")) << answer;
  }
  EXPECT_TRUE(on_loop([&] { return store_.all().empty(); }));
}

TEST_F(ServerTest, ARequestHasOneHost) {
  start();
  RawClient client(port_);
  client.send("GET /healthz HTTP/1.1\r\nHost: localhost\r\nHost: evil.example\r\n\r\n");
  EXPECT_TRUE(client.read_answer().starts_with("HTTP/1.1 400"));
  client.send("GET /healthz HTTP/1.1\r\n\r\n");
  EXPECT_TRUE(client.read_answer().starts_with("HTTP/1.1 400"));
  client.send("GET /healthz HTTP/1.1\r\nHost: LOCALHOST\r\n\r\n");
  EXPECT_TRUE(client.read_answer().starts_with("HTTP/1.1 200"));
}

TEST_F(ServerTest, AJobMayBeLargerThanOtherCalls) {
  ServerSettings settings;
  settings.body_bytes_max = 100;
  settings.job_bytes_max = 1000;
  start(settings);
  std::string job = R"({"prompt":")" + std::string(500, 'p') + "\"}";
  EXPECT_TRUE(ask("POST /api/v1/jobs", job).starts_with("HTTP/1.1 200"));
  EXPECT_TRUE(ask("POST /api/v1/jobs?x=1", job).starts_with("HTTP/1.1 200"));
  EXPECT_TRUE(ask("POST /api/v1/topics", job).starts_with("HTTP/1.1 413"));
  job = R"({"prompt":")" + std::string(1000, 'p') + "\"}";
  std::string refused = ask("POST /api/v1/jobs", job);
  EXPECT_TRUE(refused.starts_with("HTTP/1.1 413"));
  EXPECT_TRUE(has(refused, "more than 1000 bytes")) << refused;
}

TEST_F(ServerTest, EveryAnswerCarriesWhatKeepsPagesSafeAndARequestId) {
  ListenSettings listen;
  auto keys = std::make_shared<ApiKeys>();
  ASSERT_TRUE(keys->add_single("k1").has_value());
  listen.keys = keys;
  ServerSettings settings;
  settings.body_bytes_max = 100;
  start(settings, listen);
  auto answer_to = [&](const std::string& bytes) {
    RawClient client(port_);
    client.send(bytes);
    return client.read_until("\r\n\r\n");
  };
  const std::string key = "X-API-Key: k1\r\n";
  const std::string host = " HTTP/1.1\r\nHost: x\r\n";
  const std::pair<std::string, std::string> all[] = {
      {"200", "GET /healthz" + host + "\r\n"},
      {"200", "GET /api/v1/stream" + host + key + "\r\n"},
      {"101", "GET /api/v1/stream" + host + key +
                  "Connection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\n"
                  "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n"},
      {"204", "OPTIONS /api/v1/jobs" + host + "Origin: http://localhost\r\n\r\n"},
      {"400", "nonsense\r\n\r\n"},
      {"401", "GET /api/v1/jobs" + host + "\r\n"},
      {"413", "POST /api/v1/topics" + host + "Content-Length: 101\r\n\r\n"},
      {"414", "GET /" + std::string(limits::kHttpTargetBytesMax, 'x') + host + "\r\n"},
      {"431", "GET /" + host + "X: " + std::string(2 * limits::kHttpHeaderBytesMax, 'x')},
  };
  for (const auto& [status, bytes] : all) {
    std::string head = answer_to(bytes);
    EXPECT_TRUE(head.starts_with("HTTP/1.1 " + status)) << head;
    for (const char* header : {"X-Content-Type-Options: nosniff", "X-Frame-Options: DENY",
                               "Referrer-Policy: no-referrer",
                               "Content-Security-Policy: default-src", "X-Request-Id: "}) {
      EXPECT_TRUE(has(head, header)) << status << " lacks " << header;
    }
  }
}

TEST_F(ServerTest, ALongTargetIsRefusedByName) {
  start();
  std::string answer = ask("GET /api/v1/jobs?x=" + std::string(limits::kHttpTargetBytesMax, 'x'));
  EXPECT_TRUE(answer.starts_with("HTTP/1.1 414"));
  EXPECT_TRUE(has(answer, "target_too_long"));
}

TEST_F(ServerTest, ACallThatIsNotAnsweredInTimeIsToldSo) {
  ServerSettings settings;
  settings.timeouts.sweep_every = 5ms;
  ListenSettings listen;
  Routes routes{{Method::kGet,
                 "/wait",
                 Access::kPublic,
                 [](Request&, ReadTools&) -> std::expected<Call, Reply> {
                   return [](Backend& backend) -> Task<Reply> {
                     (void)co_await backend.loop.delay(1h);
                     co_return reply_empty(204);
                   };
                 },
                 {},
                 30ms}};
  listen.api = std::make_shared<const Api>(std::move(routes));
  start(settings, listen);
  RawClient client(port_);
  client.send(request("GET /wait"));
  std::string answer = client.read_answer();
  EXPECT_TRUE(answer.starts_with("HTTP/1.1 503")) << answer;
  EXPECT_TRUE(has(answer, "\"code\":\"timeout\""));
  EXPECT_TRUE(has(answer, "Retry-After: 1"));
  client.send(request("GET /nothing"));
  EXPECT_TRUE(client.read_answer().starts_with("HTTP/1.1 404")) << "the connection goes on";
}

TEST_F(ServerTest, AFullQueueIsToldAsThat) {
  start();
  on_loop([&] {
    bus_->cancel();  // it takes nothing more
    return true;
  });
  std::string answer = ask("POST /api/v1/jobs", R"({"prompt":"p"})");
  EXPECT_TRUE(answer.starts_with("HTTP/1.1 429")) << answer;
  EXPECT_TRUE(has(answer, "BACKPRESSURE"));
  EXPECT_TRUE(has(answer, "Retry-After: 1"));
}

TEST_F(ServerTest, AFullDiskIsToldAsThat) {
  store::TemporaryFolder folder;
  store::RocksOptions options{.path = folder.inside("data"), .disk_reserve_bytes = 1ull << 62};
  other_store_ = store::RocksStore::open(options, loop_, clock_).value();
  start();
  std::string answer = ask("POST /api/v1/jobs", R"({"prompt":"p"})");
  EXPECT_TRUE(answer.starts_with("HTTP/1.1 503")) << answer;
  EXPECT_TRUE(has(answer, "storage_full"));
}

TEST_F(ServerTest, AServerThatDrainsRefusesFurtherRequests) {
  start();
  RawClient kept(port_);
  kept.send(request("GET /healthz"));
  ASSERT_TRUE(kept.read_answer().starts_with("HTTP/1.1 200"));
  auto stop = [](Server& server) -> Task<Result<void>> {
    co_await server.stop(1s);
    co_return Result<void>{};
  };
  ASSERT_TRUE(finish(stop(*server_)));
  kept.send(request("GET /healthz"));
  EXPECT_TRUE(kept.read_answer().starts_with("HTTP/1.1 503"));
  EXPECT_THROW(RawClient late(port_), boost::system::system_error);
}

TEST_F(ServerTest, AServerBesideABusyOneAnswersMeanwhile) {
  static std::promise<void> let_go, busy;
  let_go = {};
  busy = {};
  Routes routes;
  routes.push_back(Route{Method::kGet,
                         "/slow",
                         Access::kPublic,
                         [](Request&, ReadTools&) -> std::expected<Call, Reply> {
                           busy.set_value();
                           let_go.get_future().wait();
                           return std::unexpected(reply_json(200, 1));
                         },
                         {}});
  ListenSettings listen;
  listen.api = std::make_shared<const Api>(std::move(routes));
  start({}, listen);
  RawClient slow(port_);
  slow.send(request("GET /slow"));
  busy.get_future().wait();

  std::unique_ptr<Server> beside;
  const uint16_t port = on_loop([&] {
    beside = std::make_unique<Server>(loop_, *backend_);
    return *beside->listen({.api = std::make_shared<const Api>(scheduler_probes())});
  });
  RawClient probe(port);
  probe.send("GET /livez HTTP/1.1\r\nHost: localhost\r\n\r\n");
  EXPECT_TRUE(probe.read_answer().starts_with("HTTP/1.1 200"));
  let_go.set_value();
  EXPECT_TRUE(slow.read_answer().starts_with("HTTP/1.1 200"));
  on_loop([&] {
    beside.reset();
    return true;
  });
}

}  // namespace
}  // namespace fairlead::http
