// The side of the client that moves bytes, on a thread of its own.
//
// It keeps one connection, for ever: it finds the server (by Sentinel if there are any), greets it,
// loads the scripts, and then writes what has gathered in one write while it reads answers, which
// come in the order of the commands. A server that forgot the scripts is given them again, and one
// that is no longer the master is left; in both cases what was sent before is answered first, so
// that calls keep their order.
#pragma once

#include <atomic>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include <boost/asio/awaitable.hpp>
#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/steady_timer.hpp>

#include "base/result.h"
#include "runtime/thread.h"
#include "store/redis/client/address.h"
#include "store/redis/client/link.h"
#include "store/redis/client/reply.h"
#include "store/redis/client/tls_options.h"

namespace fairlead::store::redis {

struct Call {
  uint64_t number = 0;  // 0: the connection's own
  std::string bytes;
};

struct Answered {
  uint64_t number = 0;
  Result<Reply> answer;
};

class Connection {
 public:
  struct Options {
    Address address;
    TlsOptions tls;
    std::vector<std::string> scripts;
    Duration connect_wait{};
    Duration answer_wait{};
  };
  // Both are called on the connection's thread.
  struct Listener {
    std::function<void(std::vector<Answered>)> answered;
    // With nothing when there is a connection, else with why there is none; and with how many
    // there were by now.
    std::function<void(std::optional<Error>, uint64_t connection)> changed;
  };

  Connection(Options options, Listener listener);
  Connection(const Connection&) = delete;
  Connection& operator=(const Connection&) = delete;
  // What was taken is sent and answered first, for as long as kRedisCloseWait.
  ~Connection();

  // Any thread. Each call is answered once: kUnavailable when it was not sent, kUnknown when it was
  // and the connection died. What was decided on another connection is not sent.
  void take(std::vector<Call> calls, uint64_t connection);

 private:
  enum class Pause { kNone, kLoadScripts, kLeave };

  asio::awaitable<void> run();
  asio::awaitable<Result<void>> live();
  asio::awaitable<Result<Endpoint>> find_server();
  asio::awaitable<Result<Endpoint>> ask_sentinel(const Endpoint& sentinel);
  asio::awaitable<Result<void>> open(Link& link, const Endpoint& endpoint);
  asio::awaitable<Result<void>> greet();
  asio::awaitable<Result<Reply>> next_reply(Link& link, ReplyReader& reader);
  asio::awaitable<void> write(std::shared_ptr<Link> link);
  asio::awaitable<void> watch(std::shared_ptr<Link> link);

  void hear(Reply reply);
  void send_what_waits();
  void leave_pause();
  void answer(uint64_t number, Result<Reply> answer);
  void deliver();
  void lose(const Error& error);
  void close();
  void end_if_done();

  const Options options_;
  const Listener listener_;

  asio::io_context context_{1};
  asio::executor_work_guard<asio::io_context::executor_type> guard_{context_.get_executor()};
  asio::steady_timer pause_between_{context_};
  asio::steady_timer closing_{context_};
  std::shared_ptr<Link> link_;
  std::unique_ptr<ReplyReader> reader_;
  std::deque<Call> unsent_;
  std::deque<Call> sent_;
  std::deque<Call> again_;  // answered with a missing script
  std::vector<Answered> answers_;
  Error last_error_;
  Pause pause_ = Pause::kNone;
  bool connected_ = false;
  uint64_t connections_ = 0;
  bool writing_ = false;
  bool closed_ = false;
  Thread thread_;
};

}  // namespace fairlead::store::redis
