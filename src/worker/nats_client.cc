#include "worker/nats_client.h"

#include <algorithm>

#include <fmt/core.h>

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/json/serialize.hpp>
#include <boost/json/value.hpp>

namespace fairlead::worker {

namespace {

namespace json = boost::json;
using Kind = ServerSaid::Kind;

constexpr auto kToken = asio::as_tuple(asio::use_awaitable);

}  // namespace

NatsClient::NatsClient(asio::io_context& context, Random& random, ServerAddress address,
                       std::string name, Callbacks callbacks)
    : context_(context),
      random_(random),
      address_(std::move(address)),
      name_(std::move(name)),
      callbacks_(std::move(callbacks)),
      pause_(context),
      change_(context) {}

asio::awaitable<void> NatsClient::run() {
  Duration pause = limits::kReconnectFirst;
  while (!closed_) {
    link_ = std::make_shared<Link>(context_);
    reader_ = {};
    unsent_.clear();
    writing_ = false;
    pings_ = pongs_ = 0;
    Result<void> ended = co_await live();
    if (std::exchange(connected_, false)) pause = limits::kReconnectFirst;
    link_->close();
    change_.cancel();
    if (closed_) break;
    callbacks_.disconnected(ended.error());
    // Not all workers of a server that comes back at the same moment.
    pause_.expires_after(random_.between(pause / 2, pause));
    co_await pause_.async_wait(kToken);
    pause = std::min(pause * 2, limits::kReconnectMax);
  }
}

void NatsClient::close() {
  closed_ = true;
  if (link_) link_->close();
  pause_.cancel();
  change_.cancel();
}

// One connection, from its beginning to its end, which is always an error.
asio::awaitable<Result<void>> NatsClient::live() {
  link_->give_up_after(limits::kConnectWait);
  if (auto greeted = co_await greet(); !greeted) co_return greeted;
  link_->never_give_up();
  connected_ = true;
  asio::co_spawn(context_, ask_for_life(link_), asio::detached);
  callbacks_.connected();
  for (;;) {
    auto said = co_await next();
    if (!said) co_return std::unexpected(said.error());
    if (auto heard = hear(*std::move(said)); !heard) co_return heard;
  }
}

asio::awaitable<Result<void>> NatsClient::greet() {
  if (auto opened = co_await link_->connect(address_); !opened) co_return opened;
  auto info = co_await next();
  if (!info) co_return std::unexpected(info.error());
  if (info->kind != Kind::kInfo) {
    co_return fail(ErrorCode::kInvalid, "the server does not begin with INFO");
  }
  const bool demanded = info->text.find("\"tls_required\":true") != info->text.npos;
  if (address_.tls || demanded) {
    if (auto secured = co_await link_->secure(address_); !secured) co_return secured;
  }
  std::string hello = connect_line();
  for (const auto& [number, subscription] : subscriptions_) {
    hello += fmt::format("SUB {} {}{}{}\r\n", subscription.subject, subscription.queue,
                         subscription.queue.empty() ? "" : " ", number);
  }
  hello += "PING\r\n";
  pings_ = 1;
  if (auto sent = co_await link_->write(hello); !sent) co_return sent;
  // A refusal comes before the answer.
  while (pongs_ == 0) {
    auto said = co_await next();
    if (!said) co_return std::unexpected(said.error());
    if (auto heard = hear(*std::move(said)); !heard) co_return heard;
  }
  co_return Result<void>{};
}

asio::awaitable<Result<ServerSaid>> NatsClient::next() {
  for (;;) {
    auto said = reader_.next();
    if (!said) co_return std::unexpected(said.error());
    if (*said) co_return **std::move(said);
    auto bytes = co_await link_->read();
    if (!bytes) co_return std::unexpected(bytes.error());
    heard_ = true;
    reader_.add(*bytes);
  }
}

Result<void> NatsClient::hear(ServerSaid said) {
  switch (said.kind) {
    case Kind::kInfo:
    case Kind::kOk:
      return {};
    case Kind::kPing:
      send("PONG\r\n");
      return {};
    case Kind::kPong:
      ++pongs_;
      change_.cancel();
      return {};
    case Kind::kError:
      if (said.text.starts_with("'Permissions Violation")) {
        callbacks_.forbidden(said.text);
        return {};
      }
      return fail(ErrorCode::kUnavailable, "the server says " + said.text);
    case Kind::kMessage: {
      const auto number = std::strtoull(said.subscription.c_str(), nullptr, 10);
      auto found = subscriptions_.find(number);
      if (found == subscriptions_.end()) return {};
      Handler handler = found->second.handler;  // it may end its own subscription
      handler(std::move(said));
      return {};
    }
  }
  return {};
}

// A server that is silent is asked; one that does not answer is left.
asio::awaitable<void> NatsClient::ask_for_life(std::shared_ptr<Link> link) {
  asio::steady_timer timer(context_);
  bool asked = false;
  while (link == link_ && connected_) {
    heard_ = false;
    timer.expires_after(limits::kClientPingEvery);
    co_await timer.async_wait(kToken);
    if (link != link_ || !connected_) co_return;
    if (!heard_ && asked) {
      link->close();
      co_return;
    }
    asked = !heard_;
    if (asked) {
      ++pings_;
      send("PING\r\n");
    }
  }
}

asio::awaitable<void> NatsClient::write_what_is_unsent(std::shared_ptr<Link> link) {
  while (link == link_ && !unsent_.empty()) {
    const std::string bytes = std::exchange(unsent_, {});
    if (auto sent = co_await link->write(bytes); !sent) {
      link->close();
      co_return;
    }
  }
  if (link == link_) writing_ = false;
}

void NatsClient::send(std::string_view bytes) {
  unsent_ += bytes;
  if (unsent_.size() > limits::kClientUnsentBytesMax) {
    link_->close();  // it does not read
    return;
  }
  if (std::exchange(writing_, true)) return;
  asio::co_spawn(context_, write_what_is_unsent(link_), asio::detached);
}

uint64_t NatsClient::subscribe(std::string subject, std::string queue, Handler handler) {
  const uint64_t number = ++last_number_;
  if (connected_) {
    send(fmt::format("SUB {} {}{}{}\r\n", subject, queue, queue.empty() ? "" : " ", number));
  }
  subscriptions_[number] = {std::move(subject), std::move(queue), std::move(handler)};
  return number;
}

void NatsClient::unsubscribe(uint64_t number) {
  if (subscriptions_.erase(number) > 0 && connected_) send(fmt::format("UNSUB {}\r\n", number));
}

bool NatsClient::publish(std::string_view subject, std::string_view payload, std::string_view reply,
                         std::string_view headers) {
  if (!connected_) return false;
  std::string bytes = headers.empty() ? "PUB " : "HPUB ";
  bytes.append(subject).append(" ");
  if (!reply.empty()) bytes.append(reply).append(" ");
  if (!headers.empty()) bytes += std::to_string(headers.size()) + " ";
  bytes += std::to_string(headers.size() + payload.size()) + "\r\n";
  bytes.append(headers).append(payload).append("\r\n");
  send(bytes);
  return true;
}

asio::awaitable<void> NatsClient::flush() {
  if (!connected_) co_return;
  const uint64_t wanted = ++pings_;
  std::shared_ptr<Link> link = link_;
  send("PING\r\n");
  while (connected_ && link == link_ && pongs_ < wanted) {
    change_.expires_after(limits::kConnectWait);
    auto [error] = co_await change_.async_wait(kToken);
    if (!error) co_return;  // no answer in time
  }
}

std::string NatsClient::connect_line() const {
  json::object options{{"verbose", false},     {"pedantic", false},     {"echo", false},
                       {"headers", true},      {"no_responders", true}, {"name", name_},
                       {"lang", "fairlead"},   {"version", "1"},        {"protocol", 1},
                       {"tls_required", false}};
  if (!address_.token.empty()) options["auth_token"] = address_.token;
  if (!address_.user.empty()) {
    options["user"] = address_.user;
    options["pass"] = address_.password;
  }
  return "CONNECT " + json::serialize(options) + "\r\n";
}

}  // namespace fairlead::worker
