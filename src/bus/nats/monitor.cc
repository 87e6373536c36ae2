#include "bus/nats/monitor.h"

#include <iterator>

#include <fmt/format.h>

#include <boost/asio/ip/tcp.hpp>

#include "base/limits.h"

namespace fairlead::bus::nats {

namespace {

constexpr std::string_view kScheme = "http://";

Result<std::string> ask(const std::string& host, const std::string& port, const std::string& path) {
  boost::asio::ip::tcp::iostream stream;
  stream.expires_after(limits::kNatsConnectWait);
  stream.connect(host, port);
  // HTTP/1.0: the answer ends with the connection.
  stream << "GET " << path << " HTTP/1.0\r\nHost: " << host << "\r\n\r\n" << std::flush;
  const std::string answer{std::istreambuf_iterator<char>(stream), {}};
  const size_t body = answer.find("\r\n\r\n");
  const std::string_view status = std::string_view(answer).substr(0, answer.find('\r'));
  if (body == std::string::npos || status.find(" 200") == std::string_view::npos) {
    return fail(ErrorCode::kUnavailable,
                fmt::format("http://{}:{}{} does not answer", host, port, path));
  }
  return answer.substr(body + 4);
}

}  // namespace

Monitor::~Monitor() {
  thread_.join();
}

Future<Result<std::string>> Monitor::get(const std::string& url, std::string path) {
  const size_t colon = url.rfind(':');
  if (!url.starts_with(kScheme) || colon < kScheme.size()) {
    return fail(ErrorCode::kInvalid,
                fmt::format("FAIRLEAD_NATS_MONITOR: \"{}\" is not http://host:port", url));
  }
  std::string host = url.substr(kScheme.size(), colon - kScheme.size());
  std::string port = url.substr(colon + 1, url.find('/', colon) - colon - 1);
  waiting_ = std::make_shared<Waiting>();
  // The completer stays on the loop's thread: the other one only knows its name.
  thread_ = Thread("nats-monitor", [&loop = loop_, host = std::move(host), port = std::move(port),
                                    path = std::move(path), waiting = std::weak_ptr(waiting_)] {
    loop.post([waiting, answer = ask(host, port, path)]() mutable {
      if (auto there = waiting.lock()) there->complete(std::move(answer));
    });
  });
  return waiting_->future();
}

}  // namespace fairlead::bus::nats
