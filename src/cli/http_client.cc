#include "cli/http_client.h"

#include <algorithm>

#include <fmt/core.h>
#include <openssl/ssl.h>

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/ssl/context.hpp>
#include <boost/asio/ssl/host_name_verification.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/core/tcp_stream.hpp>
#include <boost/beast/http.hpp>
#include <boost/beast/ssl/ssl_stream.hpp>

namespace fairlead::cli {

namespace asio = boost::asio;
namespace beast = boost::beast;
namespace bhttp = beast::http;
namespace ssl = asio::ssl;
using asio::ip::tcp;

namespace {

constexpr auto kToken = asio::as_tuple(asio::use_awaitable);
// Of an answer: a page of jobs with long results.
constexpr size_t kAnswerBytesMax = 256 << 20;
constexpr size_t kEventBytesMax = 16 << 20;

std::unexpected<NoAnswer> fail(NoAnswer::Why why, std::string message) {
  return std::unexpected(NoAnswer{why, std::move(message)});
}

struct Place {
  bool tls = false;
  std::string host;
  std::string port;
  std::string prefix;  // of paths, for a server behind another
};

std::expected<Place, NoAnswer> parse_url(std::string_view url) {
  Place place;
  std::string_view rest = url;
  if (rest.starts_with("https://")) {
    place.tls = true;
    rest.remove_prefix(8);
  } else if (rest.starts_with("http://")) {
    rest.remove_prefix(7);
  } else if (rest.find("://") != rest.npos) {
    return fail(NoAnswer::Why::kWrong,
                fmt::format("'{}' is no address of a server: http://host:8081", url));
  }
  const size_t slash = std::min(rest.find('/'), rest.size());
  place.prefix = rest.substr(slash);
  while (place.prefix.ends_with('/')) place.prefix.pop_back();
  rest = rest.substr(0, slash);
  const size_t bracket = rest.starts_with('[') ? std::min(rest.find(']'), rest.size()) : 0;
  const size_t colon = rest.find(':', bracket);
  place.host = rest.substr(0, colon);
  if (place.host.starts_with('[') && place.host.ends_with(']')) {
    place.host = place.host.substr(1, place.host.size() - 2);
  }
  place.port = colon == rest.npos ? place.tls ? "443" : "80" : std::string(rest.substr(colon + 1));
  if (place.host.empty() || place.port.empty()) {
    return fail(NoAnswer::Why::kWrong,
                fmt::format("'{}' is no address of a server: http://host:8081", url));
  }
  return place;
}

// Cuts server-sent events out of what arrives.
class EventReader {
 public:
  // False when an event is longer than any should be.
  bool add(std::string_view bytes) {
    held_ += bytes;
    return held_.size() <= kEventBytesMax;
  }
  std::optional<Event> next() {
    for (;;) {
      const size_t end = held_.find("\n\n");
      if (end == held_.npos) return std::nullopt;
      const std::string block = held_.substr(0, end);
      held_.erase(0, end + 2);
      Event event = parse(block);
      if (!event.data.empty()) return event;  // not a ping, and not the time to retry
    }
  }

 private:
  static Event parse(std::string_view block) {
    Event event;
    while (!block.empty()) {
      const size_t end = std::min(block.find('\n'), block.size());
      const std::string_view line = block.substr(0, end);
      auto field = [&](std::string_view name, std::string& into) {
        if (line.starts_with(name)) into = line.substr(name.size());
      };
      field("id: ", event.id);
      field("event: ", event.name);
      field("data: ", event.data);
      block.remove_prefix(std::min(end + 1, block.size()));
    }
    return event;
  }

  std::string held_;
};

}  // namespace

class HttpClient::Core {
 public:
  explicit Core(const Endpoint& endpoint) : endpoint_(endpoint) {}

  using Parser = bhttp::response_parser<bhttp::string_body>;
  using Request = bhttp::request<bhttp::string_body>;

  // Runs one exchange to its end.
  template <class Exchange>
  Answered run(Exchange exchange) {
    Answered result = fail(NoAnswer::Why::kNobody, "it did not end");
    context_.restart();
    asio::co_spawn(
        context_, [&]() -> asio::awaitable<void> { result = co_await exchange(); },
        [](std::exception_ptr) {});
    context_.run();
    return result;
  }

  // Connects and calls `use` with the stream.
  template <class Use>
  asio::awaitable<Answered> with_stream(const Place& place, Duration patience, Use use) {
    tcp::resolver resolver(context_);
    auto [unknown, found] = co_await resolver.async_resolve(place.host, place.port, kToken);
    if (unknown) co_return nobody(unknown);
    beast::tcp_stream plain(context_);
    plain.expires_after(patience);
    auto [refused, at] = co_await plain.async_connect(found, kToken);
    (void)at;
    if (refused) co_return nobody(refused);
    if (!place.tls) co_return co_await use(plain, plain);

    ssl::context tls(ssl::context::tls_client);
    boost::system::error_code error;
    if (!endpoint_.ca_file.empty()) {
      tls.load_verify_file(endpoint_.ca_file, error);
      if (error) {
        co_return fail(NoAnswer::Why::kWrong,
                       fmt::format("cannot read {}: {}", endpoint_.ca_file, error.message()));
      }
    } else if (!endpoint_.insecure) {
      tls.set_default_verify_paths(error);
    }
    beast::ssl_stream<beast::tcp_stream> secure(std::move(plain), tls);
    secure.set_verify_mode(endpoint_.insecure ? ssl::verify_none : ssl::verify_peer, error);
    if (!endpoint_.insecure) {
      secure.set_verify_callback(ssl::host_name_verification(place.host), error);
    }
    SSL_set_tlsext_host_name(secure.native_handle(), place.host.c_str());
    auto [untrusted] = co_await secure.async_handshake(ssl::stream_base::client, kToken);
    if (untrusted == beast::error::timeout) co_return too_late();
    if (untrusted) {
      co_return fail(NoAnswer::Why::kWrong,
                     fmt::format("no TLS with {}: {}; {} FILE names the authority that signed its "
                                 "certificate",
                                 endpoint_.url, untrusted.message(), endpoint_.ca_flag));
    }
    co_return co_await use(secure, beast::get_lowest_layer(secure));
  }

  Request request(const Place& place, std::string_view method, std::string_view target,
                  std::string body) const {
    Request made;
    made.method_string(std::string(method));
    made.target(place.prefix + std::string(target));
    made.version(11);
    const bool usual = place.port == (place.tls ? "443" : "80");
    const bool six = place.host.find(':') != place.host.npos;
    const std::string host = six ? "[" + place.host + "]" : place.host;
    made.set(bhttp::field::host, usual ? host : host + ":" + place.port);
    made.set(bhttp::field::user_agent, "fairlead-cli");
    made.set(bhttp::field::accept, "application/json");
    if (!endpoint_.api_key.empty()) made.set("X-API-Key", endpoint_.api_key);
    if (!endpoint_.tenant.empty()) made.set("X-Tenant-ID", endpoint_.tenant);
    if (!body.empty()) {
      made.set(bhttp::field::content_type, "application/json");
      made.body() = std::move(body);
    }
    made.prepare_payload();
    return made;
  }

  static std::unexpected<NoAnswer> nobody(const boost::system::error_code& error) {
    if (error == beast::error::timeout) return too_late();
    return fail(NoAnswer::Why::kNobody, error.message());
  }
  static std::unexpected<NoAnswer> broken(const boost::system::error_code& error) {
    if (error == beast::error::timeout) return too_late();
    const bool ended =
        error == bhttp::error::end_of_stream || error == bhttp::error::partial_message;
    if (!ended &&
        error.category() == bhttp::make_error_code(bhttp::error::bad_version).category()) {
      return fail(NoAnswer::Why::kWrong,
                  "what answers there is not the API of a server: " + error.message());
    }
    return fail(NoAnswer::Why::kBroken,
                "the connection ended before the answer came: " + error.message());
  }
  static std::unexpected<NoAnswer> too_late() {
    return fail(NoAnswer::Why::kTooLate, "the server did not answer in time");
  }

  asio::io_context& context() { return context_; }

 private:
  const Endpoint& endpoint_;
  asio::io_context context_{1};
};

HttpClient::HttpClient(Endpoint endpoint)
    : endpoint_(std::move(endpoint)), core_(std::make_unique<Core>(endpoint_)) {}
HttpClient::~HttpClient() = default;

Answered HttpClient::call(std::string_view method, std::string_view target, std::string body,
                          std::optional<Duration> patience) {
  auto place = parse_url(endpoint_.url);
  if (!place) return std::unexpected(place.error());
  const Duration at_most = std::min(patience.value_or(endpoint_.patience), endpoint_.patience);
  Core::Request request = core_->request(*place, method, target, std::move(body));
  auto use = [&](auto& stream, beast::tcp_stream& lowest) -> asio::awaitable<Answered> {
    lowest.expires_after(at_most);
    auto [unsent, sent_bytes] = co_await bhttp::async_write(stream, request, kToken);
    (void)sent_bytes;
    if (unsent) co_return Core::broken(unsent);
    Core::Parser parser;
    parser.body_limit(kAnswerBytesMax);
    beast::flat_buffer buffer;
    auto [unread, read_bytes] = co_await bhttp::async_read(stream, buffer, parser, kToken);
    (void)read_bytes;
    if (unread) co_return Core::broken(unread);
    co_return Answer{static_cast<int>(parser.get().result_int()), std::move(parser.get().body())};
  };
  return core_->run([&] { return core_->with_stream(*place, at_most, use); });
}

Answered HttpClient::stream(std::string_view target, std::string_view last_event_id,
                            Duration at_most, const Take& take, std::optional<Duration> patience) {
  auto place = parse_url(endpoint_.url);
  if (!place) return std::unexpected(place.error());
  const Duration to_open = std::min(patience.value_or(endpoint_.patience), endpoint_.patience);
  Core::Request request = core_->request(*place, "GET", target, {});
  request.set(bhttp::field::accept, "text/event-stream");
  if (!last_event_id.empty()) request.set("Last-Event-ID", std::string(last_event_id));
  auto use = [&](auto& stream, beast::tcp_stream& lowest) -> asio::awaitable<Answered> {
    lowest.expires_after(to_open);
    auto [unsent, sent_bytes] = co_await bhttp::async_write(stream, request, kToken);
    (void)sent_bytes;
    if (unsent) co_return Core::broken(unsent);
    Core::Parser parser;
    parser.body_limit(boost::none);
    beast::flat_buffer buffer;
    auto [headless, head_bytes] = co_await bhttp::async_read_header(stream, buffer, parser, kToken);
    (void)head_bytes;
    if (headless) co_return Core::broken(headless);
    Answer answer{static_cast<int>(parser.get().result_int()), {}};
    if (!answer.good()) {
      auto [unread, rest_bytes] = co_await bhttp::async_read(stream, buffer, parser, kToken);
      (void)unread;
      (void)rest_bytes;
      answer.body = std::move(parser.get().body());
      co_return answer;
    }
    if (at_most > Duration::zero()) {
      lowest.expires_after(at_most);
    } else {
      lowest.expires_never();
    }
    EventReader events;
    while (!parser.is_done()) {
      auto [ended, count] = co_await bhttp::async_read_some(stream, buffer, parser, kToken);
      (void)count;
      if (!events.add(std::exchange(parser.get().body(), {}))) {
        co_return fail(NoAnswer::Why::kWrong, "the server sends an event without end");
      }
      while (auto event = events.next()) {
        if (!take(*event)) co_return answer;
      }
      if (ended == beast::error::timeout) {
        co_return fail(NoAnswer::Why::kTimeOver, "the time is over");
      }
      if (ended) break;
    }
    co_return answer;
  };
  return core_->run([&] { return core_->with_stream(*place, to_open, use); });
}

void HttpClient::pause(Duration duration) {
  asio::steady_timer timer(core_->context());
  timer.expires_after(duration);
  timer.wait();
}

std::string percent_encoded(std::string_view text) {
  std::string encoded;
  for (const char c : text) {
    const bool plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
                       c == '-' || c == '.' || c == '_' || c == '~';
    if (plain) {
      encoded += c;
    } else {
      encoded += fmt::format("%{:02X}", static_cast<unsigned char>(c));
    }
  }
  return encoded;
}

}  // namespace fairlead::cli
