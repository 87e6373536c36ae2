// Streams of events over real sockets.
#include <set>

#include "edge/http/server_fixture.h"

namespace fairlead::http {
namespace {

bool has(const std::string& text, std::string_view part) {
  return text.find(part) != text.npos;
}

class StreamTest : public ServerTest {
 protected:
  // Quick about everything that takes time.
  static ServerSettings quick() {
    ServerSettings settings;
    settings.timeouts.sweep_every = 5ms;
    return settings;
  }
  std::string get(const std::string& target, const std::string& headers = {}) const {
    return "GET " + target + " HTTP/1.1\r\nHost: localhost\r\n" + headers + "\r\n";
  }
  static std::string upgrade(const std::string& protocols = {}) {
    std::string headers =
        "Connection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\n"
        "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n";
    return protocols.empty() ? headers : headers + "Sec-WebSocket-Protocol: " + protocols + "\r\n";
  }
  // Tells of a commit of a job, as the tap would.
  void publish(const std::string& job, uint64_t revision, const std::string& text = {},
               const std::string& tenant = "default", int times = 1) {
    on_loop([&] {
      std::vector<TappedEvent> events;
      for (int i = 0; i < times; ++i) {
        auto record = std::make_shared<job::Record>();
        record->id = JobId(job);
        record->tenant = TenantId(tenant);
        record->revision = Revision(revision + static_cast<uint64_t>(i));
        record->error_message = text;
        events.push_back({.record = std::move(record)});
      }
      server_->publish(std::move(events));
      return true;
    });
  }
  // Opens a stream of server-sent events.
  void open(RawClient& reader, const std::string& target = "/api/v1/stream",
            const std::string& headers = {}) {
    reader.send(get(target, headers));
    ASSERT_TRUE(has(reader.read_until("retry: 2000\n\n"), "text/event-stream"));
  }
  static std::string id_in(const std::string& event) {
    size_t at = event.find("id: ");
    return event.substr(at + 4, event.find('\n', at) - at - 4);
  }
  static uint64_t revision_in(const std::string& event) {
    size_t at = event.find("\"revision\":");
    return at == event.npos ? 0 : std::stoul(event.substr(at + 11));
  }
  // The payload of the next WebSocket frame, and its first byte.
  static std::pair<unsigned char, std::string> frame(RawClient& reader) {
    std::string start = reader.read_bytes(2);
    if (start.size() < 2) return {0, ""};
    size_t size = static_cast<unsigned char>(start[1]);
    if (size == 126) {
      std::string more = reader.read_bytes(2);
      size = static_cast<unsigned char>(more[0]) * 256u + static_cast<unsigned char>(more[1]);
    }
    return {static_cast<unsigned char>(start[0]), reader.read_bytes(size)};
  }
};

TEST_F(StreamTest, ServerSentEventsTellAJobsWayAndReplayWhatWasMissed) {
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

TEST_F(StreamTest, AWebSocketGetsTheSameEvents) {
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

TEST_F(StreamTest, ABurstDoesNotCostAReaderWhoReadsItsStream) {
  start();
  RawClient reader(port_);
  open(reader);
  constexpr int kEvents = 5000;
  publish("j", 1, std::string(200, 'x'), "default", kEvents);
  for (uint64_t i = 1; i <= kEvents; ++i) {
    ASSERT_EQ(revision_in(reader.read_until("\n\n")), i) << "none is missing, and none twice";
  }
}

TEST_F(StreamTest, OneWhoReturnsGetsManyMissedEventsWhileMoreFlow) {
  start();
  RawClient first(port_);
  open(first);
  publish("j", 1);
  std::string seen = id_in(first.read_until("\n\n"));
  publish("j", 2, std::string(100, 'x'), "default", 3000);
  RawClient back(port_);
  open(back, "/api/v1/stream", "Last-Event-ID: " + seen + "\r\n");
  for (uint64_t i = 2; i <= 3001; ++i) {
    ASSERT_EQ(revision_in(back.read_until("\n\n")), i);
    if (i % 100 == 0) publish("j", 3000 + i);
  }
}

TEST_F(StreamTest, ALastEventIdMayBeAParameterAlsoOfAWebSocket) {
  start();
  RawClient first(port_);
  open(first);
  publish("j", 1);
  std::string seen = id_in(first.read_until("\n\n"));
  publish("j", 2);
  first.read_until("\n\n");
  RawClient back(port_);
  open(back, "/api/v1/stream?last_event_id=" + seen);
  EXPECT_EQ(revision_in(back.read_until("\n\n")), 2u);
  RawClient socket(port_);
  socket.send(get("/api/v1/stream?last_event_id=" + seen, upgrade()));
  ASSERT_TRUE(socket.read_until("\r\n\r\n").starts_with("HTTP/1.1 101"));
  EXPECT_EQ(revision_in(frame(socket).second), 2u);
}

TEST_F(StreamTest, WhatHappenedWhileNobodyListenedIsAGap) {
  start();
  RawClient first(port_);
  open(first);
  publish("j", 1);
  std::string seen = id_in(first.read_until("\n\n"));
  on_loop([&] {
    server_->forget_events();
    return true;
  });
  RawClient back(port_);
  open(back, "/api/v1/stream", "Last-Event-ID: " + seen + "\r\n");
  EXPECT_TRUE(has(back.read_until("\n\n"), "event: stream.gap"));
}

TEST_F(StreamTest, AJobsStreamTellsWhatTheJobIsNowAfterAGap) {
  start();
  std::string job = field(ask("POST /api/v1/jobs", R"({"prompt":"p"})"), "job_id");
  ASSERT_TRUE(has(ask("POST /api/v1/jobs/" + job + "/cancel", "{}"), "CANCELLED"));
  RawClient back(port_), socket(port_);
  const std::string target = "/api/v1/jobs/" + job + "/stream";
  open(back, target, "Last-Event-ID: anotherlife-7\r\n");
  EXPECT_TRUE(has(back.read_until("\n\n"), "event: stream.gap"));
  EXPECT_TRUE(has(back.read_until("\n\n"), "\"state\":\"CANCELLED\""));
  socket.send(get(target + "?last_event_id=anotherlife-7", upgrade()));
  ASSERT_TRUE(socket.read_until("\r\n\r\n").starts_with("HTTP/1.1 101"));
  EXPECT_TRUE(has(frame(socket).second, "stream.gap"));
  EXPECT_TRUE(has(frame(socket).second, "\"state\":\"CANCELLED\""));
}

TEST_F(StreamTest, EventsThatTheReadersThreadCannotTakeAreLostAndThatIsTold) {
  start();
  RawClient reader(port_);
  open(reader);
  constexpr size_t kLarge = 1 << 20;
  publish("j", 1, std::string(kLarge, 'x'), "default", limits::kStreamTransitBytes / kLarge);
  publish("j", 7);
  EXPECT_TRUE(has(reader.read_until("\n\n"), "event: stream.gap"));
  EXPECT_EQ(revision_in(reader.read_until("\n\n")), 7u);
}

TEST_F(StreamTest, AReaderThatDoesNotReadIsDropped) {
  ServerSettings settings = quick();
  settings.timeouts.stream_write = 50ms;
  start(settings);
  RawClient slow(port_);
  open(slow);
  std::string large(200'000, 'x');
  bool dropped = false;
  for (int i = 0; i < 2000 && !dropped; ++i) {
    publish("j", 1, large);
    ask("GET /healthz");  // the server goes on
    dropped = on_loop([&] { return server_->stream_readers() == 0; });
  }
  EXPECT_TRUE(dropped);
}

TEST_F(StreamTest, AReaderIsPinged) {
  ServerSettings settings = quick();
  settings.timeouts.stream_ping = 20ms;
  start(settings);
  RawClient events(port_), socket(port_);
  open(events);
  EXPECT_EQ(events.read_until("\n\n"), ": ping\n\n");
  socket.send(get("/api/v1/stream", upgrade()));
  ASSERT_TRUE(socket.read_until("\r\n\r\n").starts_with("HTTP/1.1 101"));
  EXPECT_EQ(frame(socket).first, 0x89) << "a ping";
  while (frame(socket).first != 0) {
  }
  EXPECT_TRUE(socket.ended()) << "it answered none";
}

TEST_F(StreamTest, AStreamEndsWhenItsKeyDoes) {
  ServerSettings settings = quick();
  settings.timeouts.key_check = 20ms;
  ListenSettings listen;
  auto keys = std::make_shared<ApiKeys>();
  ASSERT_TRUE(keys->add_all("acme:k1:admin").has_value());
  listen.keys = keys;
  start(settings, listen);
  RawClient reader(port_);
  open(reader, "/api/v1/stream", "X-API-Key: k1\r\n");
  publish("j", 1, {}, "acme");
  EXPECT_EQ(revision_in(reader.read_until("\n\n")), 1u);
  auto others = std::make_shared<ApiKeys>();
  ASSERT_TRUE(others->add_single("k2").has_value());
  on_loop([&] {
    server_->set_keys(others);
    return true;
  });
  EXPECT_TRUE(reader.ended());
}

TEST_F(StreamTest, AStreamEndsWhenItsKeyGivesOtherRights) {
  ServerSettings settings = quick();
  settings.timeouts.key_check = 20ms;
  auto keys = [](const char* role, const char* tenant, bool all_tenants) {
    auto made = std::make_shared<ApiKeys>();
    EXPECT_TRUE(made->add_all(std::string(R"([{"key":"k1","role":")") + role + R"(","tenant":")" +
                              tenant + R"(","allow_cross_tenant":)" +
                              (all_tenants ? "true" : "false") + "}]")
                    .has_value());
    return made;
  };
  ListenSettings listen;
  listen.keys = keys("admin", "acme", true);
  start(settings, listen);
  auto set = [&](std::shared_ptr<const ApiKeys> wanted) {
    on_loop([&] {
      server_->set_keys(wanted);
      return true;
    });
  };
  for (auto others : {keys("viewer", "acme", true), keys("admin", "acme", false),
                      keys("admin", "globex", true)}) {
    set(keys("admin", "acme", true));
    RawClient reader(port_);
    open(reader, "/api/v1/stream", "X-API-Key: k1\r\n");
    set(others);
    EXPECT_TRUE(reader.ended());
  }
}

TEST_F(StreamTest, AKeyMayComeAsASubprotocolInEitherFormAndIsEchoedAsItCame) {
  ListenSettings listen;
  auto keys = std::make_shared<ApiKeys>();
  ASSERT_TRUE(keys->add_single("k1").has_value());
  listen.keys = keys;
  start({}, listen);
  // "k1" as base64url.
  RawClient pair(port_), dotted(port_), wrong(port_);
  pair.send(get("/api/v1/stream", upgrade("cordum-api-key, azE")));
  EXPECT_TRUE(has(pair.read_until("\r\n\r\n"), "Sec-WebSocket-Protocol: cordum-api-key\r\n"));
  dotted.send(get("/api/v1/stream", upgrade("cordum-api-key.azE")));
  EXPECT_TRUE(has(dotted.read_until("\r\n\r\n"), "Sec-WebSocket-Protocol: cordum-api-key.azE\r\n"));
  wrong.send(get("/api/v1/stream", upgrade("cordum-api-key.azI")));
  EXPECT_TRUE(wrong.read_answer().starts_with("HTTP/1.1 401"));
}

TEST_F(StreamTest, ATenantNamedInTheQueryNarrowsTheStream) {
  start();
  RawClient reader(port_);
  open(reader, "/api/v1/stream?tenant_id=acme");
  publish("a", 1, {}, "globex");
  publish("b", 2, {}, "acme");
  EXPECT_EQ(revision_in(reader.read_until("\n\n")), 2u);
}

TEST_F(StreamTest, TooManyReadersAreToldSo) {
  ServerSettings settings;
  settings.streams_max = 1;
  start(settings);
  RawClient first(port_);
  open(first);
  std::string refused = ask("GET /api/v1/stream");
  EXPECT_TRUE(refused.starts_with("HTTP/1.1 503"));
  EXPECT_TRUE(has(refused, "too_many_streams"));
  EXPECT_TRUE(has(refused, "Retry-After: 5"));
}

TEST_F(StreamTest, TheStreamOfEverythingIsOpenedByAnyMethodByAdminsAndByHeadNotAtAll) {
  ListenSettings listen;
  auto keys = std::make_shared<ApiKeys>();
  ASSERT_TRUE(keys->add_all("acme:boss:admin, acme:eye:viewer").has_value());
  listen.keys = keys;
  start({}, listen);
  for (const char* method : {"GET", "POST", "PUT", "PATCH", "DELETE"}) {
    RawClient reader(port_);
    reader.send(std::string(method) +
                " /api/v1/stream HTTP/1.1\r\nHost: x\r\nX-API-Key: boss\r\n\r\n");
    EXPECT_TRUE(has(reader.read_until("retry: 2000\n\n"), "text/event-stream")) << method;
  }
  RawClient viewer(port_);
  viewer.send(get("/api/v1/stream", "X-API-Key: eye\r\n"));
  EXPECT_TRUE(viewer.read_answer().starts_with("HTTP/1.1 403"));
  RawClient head(port_);
  head.send("HEAD /api/v1/stream HTTP/1.1\r\nHost: x\r\nX-API-Key: boss\r\n\r\n");
  std::string answer = head.read_until("\r\n\r\n");
  EXPECT_TRUE(has(answer, "text/event-stream"));
  head.send(get("/healthz"));
  EXPECT_TRUE(head.read_answer().starts_with("HTTP/1.1 200")) << "nothing stood between";
}

}  // namespace
}  // namespace fairlead::http
