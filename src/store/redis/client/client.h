// A Redis, as the loop's thread sees it: commands of many callers go out together once per turn of
// the loop, take effect in the order of their calls, and are answered on the same thread.
//
// An answer is an error of code
//   kUnavailable  it was not done: there is no connection, too much waits, or Redis refused,
//   kUnknown      the connection died before the answer,
//   kFull         Redis has no memory left; it was not done,
//   kCorrupt      Redis found the command or what it met senseless.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "base/limits.h"
#include "base/log.h"
#include "runtime/future.h"
#include "runtime/loop.h"
#include "store/redis/client/address.h"
#include "store/redis/client/command.h"
#include "store/redis/client/reply.h"
#include "store/redis/client/tls_options.h"

namespace fairlead::store::redis {

class Connection;

struct ClientOptions {
  Address address;
  TlsOptions tls;
  std::vector<std::string> scripts;  // their texts; called by their place here
  Duration connect_wait = limits::kRedisConnectWait;
  Duration answer_wait = limits::kRedisAnswerWait;
};

class Client {
 public:
  using Done = std::move_only_function<void(Result<Reply>)>;

  // Loop and log must outlive it; it lives on the loop's thread. It connects by itself, and again
  // whenever the connection is lost.
  Client(ClientOptions options, Loop& loop, Log& log);
  Client(const Client&) = delete;
  Client& operator=(const Client&) = delete;
  // What was called happens; what is not yet answered never is. Waits for it a while.
  ~Client();

  // Waits, on the calling thread, for the first connection: for use before the loop runs.
  Result<void> wait_until_connected(Duration patience);

  // Calls and waits likewise, for use before the loop runs.
  Result<Reply> ask_and_wait(const Command& command, Duration patience);

  // Whoever is told of a new connection makes the first calls on it: nothing that was called before
  // goes over it.
  void on_connected(std::function<void()> told) { on_connected_ = std::move(told); }

  void call(const Command& command, Done done);
  // The beginning of a call of a script; its arguments are to be added.
  Command script(size_t index) const;

  // Calls, and makes the answer of the reply: `parse` is Reply -> Result<T>.
  template <class Parse>
  auto ask(const Command& command, Parse parse);

  bool connected() const { return !lost_; }
  size_t outstanding() const { return waiting_.size(); }

 private:
  struct Waiting {
    Done done;
    size_t bytes = 0;
  };
  struct Waiter;

  void hand_over();
  void complete(uint64_t number, Result<Reply> answer);
  void tell(std::optional<Error> lost, uint64_t connection);

  Loop& loop_;
  Log& log_;
  const std::string shown_;
  std::vector<std::string> hashes_;
  std::unordered_map<uint64_t, Waiting> waiting_;
  size_t waiting_bytes_ = 0;
  uint64_t last_ = 0;
  bool hand_over_posted_ = false;
  std::optional<Error> lost_;
  uint64_t connection_known_ = 0;  // what is called is meant for this one
  std::function<void()> on_connected_ = [] {};
  std::shared_ptr<Waiter> waiter_;

  struct Turn;
  std::unique_ptr<Turn> turn_;  // calls since the last handing over
  // What is posted to the loop looks here first: this may be gone.
  std::shared_ptr<Client*> self_;
  std::unique_ptr<Connection> connection_;
};

template <class Parse>
auto Client::ask(const Command& command, Parse parse) {
  using Given = std::invoke_result_t<Parse&, Reply>;
  Completer<Given> completer;
  Future<Given> future = completer.future();
  call(command,
       [completer = std::move(completer), parse = std::move(parse)](Result<Reply> reply) mutable {
         if (!reply) return completer.complete(std::unexpected(reply.error()));
         completer.complete(parse(*std::move(reply)));
       });
  return future;
}

}  // namespace fairlead::store::redis
