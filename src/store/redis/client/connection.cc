#include "store/redis/client/connection.h"

#include <algorithm>
#include <utility>

#include <fmt/core.h>

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/use_awaitable.hpp>

#include "base/limits.h"
#include "store/redis/client/command.h"

namespace fairlead::store::redis {

namespace {

constexpr auto kToken = asio::as_tuple(asio::use_awaitable);
// Looks in one answer_wait, so that a wait is not much longer than it should be.
constexpr int kWatchSteps = 4;

// What is said first to a server that asks who is there; nothing where nothing is to be shown.
std::vector<Command> introduction(const Credentials& credentials) {
  std::vector<Command> words;
  if (!credentials.user.empty()) {
    words.emplace_back("AUTH", credentials.user, credentials.password);
  } else if (!credentials.password.empty()) {
    words.emplace_back("AUTH", credentials.password);
  }
  return words;
}

std::string wire(const Command& command) {
  std::string bytes;
  command.write_to(bytes);
  return bytes;
}

}  // namespace

Connection::Connection(Options options, Listener listener)
    : options_(std::move(options)),
      listener_(std::move(listener)),
      last_error_{ErrorCode::kUnavailable, "there is no connection to Redis yet"} {
  asio::co_spawn(context_, run(), asio::detached);
  thread_ = Thread("redis", [this] { context_.run(); });
}

Connection::~Connection() {
  asio::post(context_, [this] { close(); });
  thread_.join();
}

void Connection::take(std::vector<Call> calls, uint64_t connection) {
  asio::post(context_, [this, calls = std::move(calls), connection]() mutable {
    if (!connected_ || connection != connections_) {
      for (Call& call : calls) answer(call.number, std::unexpected(last_error_));
      return deliver();
    }
    std::ranges::move(calls, std::back_inserter(unsent_));
    send_what_waits();
  });
}

// --- Its life ------------------------------------------------------------------------------------

asio::awaitable<void> Connection::run() {
  Duration pause = limits::kReconnectFirst;
  while (!closed_) {
    link_ = std::make_shared<Link>(context_);
    reader_ = std::make_unique<ReplyReader>();
    writing_ = false;
    pause_ = Pause::kNone;
    Result<void> ended = co_await live();
    link_->close();
    if (std::exchange(connected_, false)) pause = limits::kReconnectFirst;
    lose(ended.error());
    if (closed_) break;
    listener_.changed(ended.error(), connections_);
    pause_between_.expires_after(pause);
    co_await pause_between_.async_wait(kToken);
    pause = std::min(pause * 2, limits::kRedisReconnectMax);
  }
  context_.stop();
}

// One connection, from its beginning to its end, which is always an error.
asio::awaitable<Result<void>> Connection::live() {
  link_->give_up_after(options_.connect_wait);
  Result<Endpoint> server = co_await find_server();
  if (!server) co_return std::unexpected(server.error());
  if (auto opened = co_await open(*link_, *server); !opened) co_return opened;
  if (auto greeted = co_await greet(); !greeted) co_return greeted;
  link_->never_give_up();
  connected_ = true;
  listener_.changed(std::nullopt, ++connections_);
  asio::co_spawn(context_, watch(link_), asio::detached);
  for (;;) {
    Result<Reply> reply = co_await next_reply(*link_, *reader_);
    if (!reply) co_return std::unexpected(reply.error());
    hear(*std::move(reply));
  }
}

asio::awaitable<Result<Endpoint>> Connection::find_server() {
  const Address& address = options_.address;
  if (address.master.empty()) co_return address.endpoints.front();
  Error last;
  for (const Endpoint& sentinel : address.endpoints) {
    Result<Endpoint> found = co_await ask_sentinel(sentinel);
    if (found) co_return found;
    last = found.error();
  }
  co_return fail(ErrorCode::kUnavailable,
                 fmt::format("no Sentinel knows the master {}: {}", address.master, last.message));
}

asio::awaitable<Result<Endpoint>> Connection::ask_sentinel(const Endpoint& sentinel) {
  Link link(context_);
  ReplyReader reader;
  // Several must have their turn while a server is looked for.
  link.give_up_after(options_.connect_wait / 4);
  if (auto opened = co_await open(link, sentinel); !opened)
    co_return std::unexpected(opened.error());
  std::vector<Command> words = introduction(options_.address.sentinel);
  words.emplace_back("SENTINEL", "get-master-addr-by-name", options_.address.master);
  std::string ask;
  for (const Command& word : words) word.write_to(ask);
  if (auto sent = co_await link.write(ask); !sent) co_return std::unexpected(sent.error());
  Result<Reply> reply;
  for (size_t i = 0; i < words.size(); ++i) {
    reply = co_await next_reply(link, reader);
    if (!reply) co_return std::unexpected(reply.error());
    if (reply->is_error()) {
      co_return fail(ErrorCode::kUnavailable,
                     fmt::format("{} refuses: {}", sentinel.shown(), reply->text));
    }
  }
  if (reply->items.size() != 2) {
    co_return fail(ErrorCode::kUnavailable,
                   fmt::format("{} knows no such master", sentinel.shown()));
  }
  co_return Endpoint{reply->items[0].text, static_cast<uint16_t>(reply->items[1].number()), ""};
}

asio::awaitable<Result<void>> Connection::open(Link& link, const Endpoint& endpoint) {
  if (auto connected = co_await link.connect(endpoint, options_.answer_wait); !connected) {
    co_return connected;
  }
  if (options_.address.tls) {
    if (auto secured = co_await link.secure(options_.tls, endpoint); !secured) co_return secured;
  }
  co_return Result<void>{};
}

asio::awaitable<Result<void>> Connection::greet() {
  const Address& address = options_.address;
  std::vector<Command> words = introduction(address.server);
  words.emplace_back("CLIENT", "SETNAME", "fairlead");
  words.emplace_back("SELECT", address.database);
  size_t plain = words.size();
  words.emplace_back("INFO", "cluster");
  words.emplace_back("ROLE");
  for (const std::string& script : options_.scripts) words.emplace_back("SCRIPT", "LOAD", script);
  std::string bytes;
  for (const Command& word : words) word.write_to(bytes);
  if (auto sent = co_await link_->write(bytes); !sent) co_return sent;

  for (size_t i = 0; i < words.size(); ++i) {
    Result<Reply> reply = co_await next_reply(*link_, *reader_);
    if (!reply) co_return std::unexpected(reply.error());
    if (reply->is_error()) {
      co_return fail(ErrorCode::kUnavailable,
                     fmt::format("{} refuses: {}", address.shown(), reply->text));
    }
    if (i == plain && reply->text.find("cluster_enabled:1") != std::string::npos) {
      co_return fail(ErrorCode::kInvalid,
                     fmt::format("{} is a Redis Cluster: a change touches keys of several slots, "
                                 "which a cluster cannot do in one step; use a single server with "
                                 "replicas and Sentinel",
                                 address.shown()));
    }
    if (i == plain + 1 && reply->at(0).text != "master") {
      co_return fail(ErrorCode::kUnavailable,
                     fmt::format("{} is no master but a {}", address.shown(), reply->at(0).text));
    }
  }
  co_return Result<void>{};
}

asio::awaitable<Result<Reply>> Connection::next_reply(Link& link, ReplyReader& reader) {
  for (;;) {
    auto reply = reader.next();
    if (!reply) co_return std::unexpected(reply.error());
    if (*reply) co_return **std::move(reply);
    // All that came at once was heard: now the callers hear of it.
    deliver();
    auto bytes = co_await link.read();
    if (!bytes) co_return std::unexpected(bytes.error());
    reader.add(*bytes);
  }
}

// A server that owes an answer and says nothing for too long is left, whatever it still takes.
asio::awaitable<void> Connection::watch(std::shared_ptr<Link> link) {
  asio::steady_timer timer(context_);
  uint64_t received_before = link->received();
  int still_looks = 0;
  while (link == link_ && connected_) {
    timer.expires_after(options_.answer_wait / kWatchSteps);
    co_await timer.async_wait(kToken);
    if (link != link_ || !connected_) co_return;
    bool still = !sent_.empty() && link->received() == received_before;
    still_looks = still ? still_looks + 1 : 0;
    received_before = link->received();
    if (still_looks > kWatchSteps) link->close("no answer in time");
  }
}

// --- Calls and answers ---------------------------------------------------------------------------

void Connection::send_what_waits() {
  if (writing_ || pause_ != Pause::kNone || unsent_.empty()) return;
  writing_ = true;
  asio::co_spawn(context_, write(link_), asio::detached);
}

asio::awaitable<void> Connection::write(std::shared_ptr<Link> link) {
  std::string bytes;
  while (link == link_ && pause_ == Pause::kNone && !unsent_.empty()) {
    bytes.clear();
    while (!unsent_.empty() && (bytes.empty() || bytes.size() < limits::kRedisWriteBytes)) {
      bytes += unsent_.front().bytes;
      sent_.push_back(std::move(unsent_.front()));
      unsent_.pop_front();
    }
    Result<void> written = co_await link->write(bytes);
    if (!written) {
      link->close(written.error().message);
      co_return;
    }
  }
  if (link == link_) writing_ = false;
}

void Connection::hear(Reply reply) {
  if (sent_.empty()) return link_->close("it answers what was not asked");
  Call call = std::move(sent_.front());
  sent_.pop_front();
  if (reply.is_error() && is_missing_script(reply.text) && call.number != 0) {
    if (pause_ == Pause::kNone) pause_ = Pause::kLoadScripts;
    again_.push_back(std::move(call));
  } else {
    if (reply.is_error() && is_master_elsewhere(reply.text)) pause_ = Pause::kLeave;
    Result<Reply> result = std::move(reply);
    if (result->is_error()) result = std::unexpected(error_of(result->text));
    answer(call.number, std::move(result));
  }
  if (sent_.empty() && pause_ != Pause::kNone) leave_pause();
  end_if_done();
}

// Everything that was sent is answered.
void Connection::leave_pause() {
  if (pause_ == Pause::kLeave) return link_->close("the master is elsewhere");
  std::deque<Call> first;
  for (const std::string& script : options_.scripts) {
    first.push_back({0, wire(Command("SCRIPT", "LOAD", script))});
  }
  std::ranges::move(again_, std::back_inserter(first));
  again_.clear();
  std::ranges::move(unsent_, std::back_inserter(first));
  unsent_ = std::move(first);
  pause_ = Pause::kNone;
  send_what_waits();
}

void Connection::answer(uint64_t number, Result<Reply> answer) {
  if (number != 0) answers_.push_back({number, std::move(answer)});
}

void Connection::deliver() {
  if (!answers_.empty()) listener_.answered(std::exchange(answers_, {}));
}

// The connection is gone: what was sent may have happened.
void Connection::lose(const Error& error) {
  last_error_ = {ErrorCode::kUnavailable, error.message};
  for (Call& call : sent_) answer(call.number, fail(ErrorCode::kUnknown, error.message));
  for (auto* calls : {&again_, &unsent_}) {
    for (Call& call : *calls) answer(call.number, std::unexpected(last_error_));
  }
  sent_.clear();
  again_.clear();
  unsent_.clear();
  deliver();
}

// --- Closing -------------------------------------------------------------------------------------

void Connection::close() {
  closed_ = true;
  pause_between_.cancel();
  if (!connected_) {
    if (link_) link_->close("it is being closed");
    return;
  }
  closing_.expires_after(limits::kRedisCloseWait);
  closing_.async_wait([this](const boost::system::error_code& error) {
    if (!error && link_) link_->close("it is being closed");
  });
  end_if_done();
}

void Connection::end_if_done() {
  if (!closed_ || !sent_.empty() || !unsent_.empty() || !again_.empty()) return;
  closing_.cancel();
  link_->close("it is being closed");
}

}  // namespace fairlead::store::redis
