// What clients send over connections, a byte 0x1e between two of them, served as the server serves
// it: its own connections read and answer, over pairs of sockets and without threads. The first
// byte of each chooses the listener: without keys, with keys, or with keys and few calls.
#include <cstring>
#include <list>
#include <string>
#include <string_view>

#include <sys/socket.h>
#include <unistd.h>

#include <boost/json/parse.hpp>

#include "base/text.h"
#include "edge/http/server_core.h"
#include "fuzz/world.h"

namespace fairlead::fuzz {
namespace {

using boost::asio::ip::tcp;

class HttpWorld {
 public:
  HttpWorld() {
    world_.run(pools_.start());
    core_->open();
    backend_.stream_readers = [this] { return core_->stream_readers.load(); };
    backend_.stream_opening = [this] { return tap_.expect_reader(); };
    add_listener("", {});
    add_listener("acme:k1:viewer:bob, acme:k2:operator, k3", {});
    add_listener("k3", {.rate = {1, 2}, .public_rate = {1, 1}});
    fill();
  }
  ~HttpWorld() {
    core_->close_all();
    settle();
    core_->bridge->close();
  }

  void talk(std::string_view said) {
    size_t which = said.empty() ? 0 : static_cast<uint8_t>(said[0]) % core_->listeners.size();
    int ends[2];
    check(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, ends) == 0, "there is a pair");
    tcp::socket socket(core_->context);
    socket.assign(tcp::v4(), ends[0]);
    core_->serve(*std::next(core_->listeners.begin(), static_cast<ptrdiff_t>(which)),
                 std::move(socket), {"127.0.0.1", true});
    // In two parts, so that what is cut off goes on.
    std::string_view bytes = said.substr(std::min<size_t>(1, said.size()));
    std::string answers;
    for (std::string_view part :
         {bytes.substr(0, bytes.size() / 2), bytes.substr(bytes.size() / 2)}) {
      ::send(ends[1], part.data(), part.size(), MSG_NOSIGNAL);
      settle();
      read(ends[1], answers);
    }
    // Something happens, for those who read a stream.
    world_.run(world_.scheduler.cancel(JobId("seed"), "again"));
    settle();
    read(ends[1], answers);
    ::close(ends[1]);
    settle();
    check_answers(answers);
  }

 private:
  void add_listener(const char* keys, http::AccessSettings access) {
    auto made = std::make_shared<http::ApiKeys>();
    check(made->add_all(keys).has_value(), "the keys can be read");
    http::ListenSettings settings{.api = api_, .access = access, .keys = made};
    http::Gatekeeper gatekeeper(access, made);
    core_->listeners.push_back(http::Listener{std::move(settings), std::move(gatekeeper),
                                              tcp::acceptor(core_->context), nullptr});
  }

  // A job with payloads that are no text, and a dead letter.
  void fill() {
    cordum::agent::v1::BusPacket packet;
    packet.set_trace_id("trace");
    packet.set_sender_id("seed");
    packet.mutable_job_request()->set_job_id("seed");
    packet.mutable_job_request()->set_topic("job.default");
    world_.run(published(packet.SerializeAsString()));
    auto always = store::BlobCondition::kAlways;
    (void)world_.store.put_blob("ctx:seed", {"\xff\xfe", {}}, always);
    (void)world_.store.put_blob("res:seed", {std::string("\0\x80{", 3), {}}, always);
    (void)world_.store.put_dead_letter({JobId("seed"), Topic("job.default"), TenantId("default"),
                                        "JOB_STATUS_FAILED", "cut \xe2\x82", "timeout", "RUNNING",
                                        1, world_.clock.wall()});
  }
  Task<bool> published(std::string packet) {
    auto done = co_await world_.bus.publish(std::string(bus::kSubmitSubject), packet, {});
    co_return done.has_value();
  }

  // Runs both loops until nothing moves; while a call is out, time passes.
  void settle() {
    for (int waits = 0; waits < 600;) {
      size_t ran = core_->context.poll();
      world_.loop.run_ready();
      if (ran > 0) continue;
      if (core_->calls_out == 0 && core_->context.poll() == 0) return;
      world_.loop.run_for(std::chrono::milliseconds(100));
      ++waits;
    }
    check(false, "every call is answered");
  }

  static void read(int end, std::string& into) {
    char bytes[4096];
    ssize_t count = 0;
    while ((count = ::recv(end, bytes, sizeof bytes, 0)) > 0) {
      into.append(bytes, static_cast<size_t>(count));
    }
  }

  static void check_json(std::string_view text) {
    boost::system::error_code error;
    boost::json::parse(text, error);
    check(!error, "what is sent is JSON");
  }

  static void check_answers(std::string_view rest) {
    while (!rest.empty()) {
      check(rest.starts_with("HTTP/1.1 "), "an answer begins with its status");
      check(!rest.starts_with("HTTP/1.1 5") || rest.starts_with("HTTP/1.1 501") ||
                rest.starts_with("HTTP/1.1 503"),
            "no request is our fault");
      size_t end = rest.find("\r\n\r\n");
      if (end == rest.npos) return;  // it was cut off
      std::string_view head = rest.substr(0, end);
      rest.remove_prefix(end + 4);
      for (std::string_view line : split(head.substr(head.find("\r\n") + 2), '\n')) {
        if (line.ends_with('\r')) line.remove_suffix(1);
        check(line.find(": ") != line.npos || head.starts_with("HTTP/1.1 100"), "a header line");
        check(is_utf8(line) && line.find('\r') == line.npos, "of text");
      }
      if (head.starts_with("HTTP/1.1 101")) return;  // frames follow
      if (head.find("text/event-stream") != head.npos && head.find("Content-Length") == head.npos) {
        return check_events(rest);
      }
      rest.remove_prefix(check_body(head, rest));
    }
  }

  // The bytes of the body; none follow the answer to HEAD, nor 204 and the like.
  static size_t check_body(std::string_view head, std::string_view rest) {
    size_t at = head.find("Content-Length: ");
    if (at == head.npos || rest.starts_with("HTTP/1.1 ")) return 0;
    size_t size = std::stoul(std::string(head.substr(at + 16, 12)));
    if (rest.size() < size) return rest.size();
    if (size > 0 && head.find("application/json") != head.npos) check_json(rest.substr(0, size));
    return size;
  }

  static void check_events(std::string_view rest) {
    for (std::string_view line : split(rest.substr(0, rest.rfind('\n')), '\n')) {
      if (line.starts_with("data: ")) check_json(line.substr(6));
    }
  }

  World world_;
  http::PoolBook pools_{world_.loop, world_.store, world_.pools,
                        [this](auto map) { world_.scheduler.set_pools(std::move(map)); }};
  http::Backend backend_{
      world_.loop, world_.clock,     world_.random, world_.store, world_.bus,
      world_.log,  world_.scheduler, pools_,        Build{},      world_.clock.monotonic()};
  // Small limits, so that they are met.
  std::shared_ptr<http::ServerCore> core_ = std::make_shared<http::ServerCore>(
      world_.loop, backend_,
      http::ServerSettings{.streams_max = 2, .body_bytes_max = 512, .job_bytes_max = 2048});
  http::EventTap tap_{
      backend_,
      {[this](std::vector<http::TappedEvent> events) { core_->publish(std::move(events)); },
       [this] { core_->hub.forget(); }}};
  std::shared_ptr<const http::Api> api_ = std::make_shared<const http::Api>();
};

}  // namespace
}  // namespace fairlead::fuzz

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  std::string_view input(reinterpret_cast<const char*>(data), size);
  fairlead::fuzz::HttpWorld world;
  while (!input.empty()) {
    size_t end = std::min(input.find('\x1e'), input.size());
    world.talk(input.substr(0, end));
    input.remove_prefix(std::min(end + 1, input.size()));
  }
  return 0;
}
