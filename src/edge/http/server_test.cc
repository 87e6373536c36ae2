#include "edge/http/server_fixture.h"

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
  settings.body_bytes_max = 100;
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

TEST_F(ServerTest, ServerSentEventsTellAJobsWayAndReplayWhatWasMissed) {
  start();
  std::string job = field(ask("POST /api/v1/jobs", R"({"prompt":"p"})"), "job_id");
  RawClient reader(port_);
  reader.send(request("GET /api/v1/jobs/" + job + "/stream"));
  EXPECT_TRUE(has(reader.read_until("retry: 2000\n\n"), "text/event-stream"));
  std::string first = reader.read_until("\n\n");
  EXPECT_TRUE(has(first, "event: job.status_changed"));
  EXPECT_TRUE(has(first, "\"state\":\"PENDING\""));
  std::string id = first.substr(4, first.find('\n') - 4);
  ASSERT_TRUE(has(ask("POST /api/v1/jobs/" + job + "/cancel", "{}"), "CANCELLED"));
  std::string changed;
  do {
    changed = reader.read_until("\n\n");
    ASSERT_FALSE(changed.empty());
  } while (!has(changed, "\"state\":\"CANCELLED\""));

  RawClient back(port_);
  back.send("GET /api/v1/jobs/" + job +
            "/stream HTTP/1.1\r\nHost: localhost\r\nLast-Event-ID: " + id + "\r\n\r\n");
  back.read_until("retry: 2000\n\n");
  std::string missed;
  do {
    missed = back.read_until("\n\n");
    ASSERT_FALSE(missed.empty());
  } while (!has(missed, "\"state\":\"CANCELLED\""));
  EXPECT_TRUE(ask("GET /api/v1/jobs/none/stream").starts_with("HTTP/1.1 404"));
}

TEST_F(ServerTest, AWebSocketGetsTheSameEvents) {
  start();
  RawClient reader(port_);
  reader.send(
      "GET /api/v1/stream HTTP/1.1\r\nHost: localhost\r\nConnection: Upgrade\r\n"
      "Upgrade: websocket\r\nSec-WebSocket-Version: 13\r\n"
      "Sec-WebSocket-Protocol: cordum-api-key, azE\r\n"
      "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n");
  std::string head = reader.read_until("\r\n\r\n");
  EXPECT_TRUE(head.starts_with("HTTP/1.1 101"));
  EXPECT_TRUE(has(head, "s3pPLMBiTxaQ9kYGzzhZRbK+xOo="));
  EXPECT_TRUE(has(head, "Sec-WebSocket-Protocol: cordum-api-key\r\n"));
  std::string job = field(ask("POST /api/v1/jobs", R"({"prompt":"p"})"), "job_id");
  // A text frame of up to 64 KiB: its length in two bytes.
  for (bool found = false; !found;) {
    std::string start = reader.read_bytes(2);
    ASSERT_EQ(start.size(), 2u);
    EXPECT_EQ(static_cast<unsigned char>(start[0]), 0x81);
    size_t size = static_cast<unsigned char>(start[1]);
    if (size == 126) {
      std::string more = reader.read_bytes(2);
      size = static_cast<unsigned char>(more[0]) * 256u + static_cast<unsigned char>(more[1]);
    }
    std::string frame = reader.read_bytes(size);
    EXPECT_TRUE(frame.starts_with(R"({"eventId":")"));
    found = has(frame, job) && has(frame, "job.status_changed");
  }
}

TEST_F(ServerTest, AReaderThatDoesNotReadIsDropped) {
  ServerSettings settings;
  settings.timeouts.stream_write = 50ms;
  settings.timeouts.sweep_every = 5ms;
  start(settings);
  RawClient slow(port_);
  slow.send(request("GET /api/v1/stream"));
  slow.read_until("retry: 2000\n\n");
  std::string large(200'000, 'x');
  bool dropped = false;
  for (int i = 0; i < 2000 && !dropped; ++i) {
    on_loop([&] {
      job::Record record;
      record.id = JobId("j");
      record.tenant = TenantId("t");
      record.error_message = large;
      std::vector<TappedEvent> events(1);
      events[0].record = std::move(record);
      server_->publish(std::move(events));
      return true;
    });
    ask("GET /healthz");  // the server goes on
    dropped = on_loop([&] { return server_->stream_readers() == 0; });
  }
  EXPECT_TRUE(dropped);
}

}  // namespace
}  // namespace fairlead::http
