// A client of the worker listener, or of any NATS server: it reconnects for ever, and subscribes
// anew each time. One thread, that of the context.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>

#include <boost/asio/awaitable.hpp>
#include <boost/asio/steady_timer.hpp>

#include "runtime/random.h"
#include "worker/link.h"
#include "worker/nats_wire.h"

namespace fairlead::worker {

class NatsClient {
 public:
  struct Callbacks {
    // Subscriptions are made, and what is published now arrives.
    std::function<void()> connected;
    // Told once for each connection that is lost or cannot be made, with the reason.
    std::function<void(const Error&)> disconnected;
    // The server forbids something and goes on.
    std::function<void(const std::string&)> forbidden;
  };
  using Handler = std::function<void(ServerSaid)>;

  // All must outlive the client.
  NatsClient(asio::io_context& context, Random& random, ServerAddress address, std::string name,
             Callbacks callbacks);

  // Runs until close(): connects, and connects again.
  asio::awaitable<void> run();
  void close();

  // Lasts over reconnects until it is ended. Answers its number.
  uint64_t subscribe(std::string subject, std::string queue, Handler handler);
  void unsubscribe(uint64_t number);

  bool connected() const { return connected_; }
  // False when there is no connection: then it is not sent, now or later.
  bool publish(std::string_view subject, std::string_view payload, std::string_view reply = {},
               std::string_view headers = {});
  // Completes when everything published before has reached the server, or the connection is lost.
  asio::awaitable<void> flush();

 private:
  struct Subscription {
    std::string subject;
    std::string queue;
    Handler handler;
  };

  asio::awaitable<Result<void>> live();
  asio::awaitable<Result<void>> greet();
  asio::awaitable<Result<ServerSaid>> next();
  asio::awaitable<void> write_what_is_unsent(std::shared_ptr<Link> link);
  asio::awaitable<void> ask_for_life(std::shared_ptr<Link> link);
  Result<void> hear(ServerSaid said);
  void send(std::string_view bytes);
  std::string connect_line() const;

  asio::io_context& context_;
  Random& random_;
  ServerAddress address_;
  std::string name_;
  Callbacks callbacks_;

  std::map<uint64_t, Subscription> subscriptions_;
  uint64_t last_number_ = 0;
  std::shared_ptr<Link> link_;
  NatsReader reader_;
  std::string unsent_;
  bool writing_ = false;
  bool connected_ = false;
  bool closed_ = false;
  bool heard_ = false;         // since the last question
  uint64_t pings_ = 0;         // sent on this connection
  uint64_t pongs_ = 0;         // heard on it
  asio::steady_timer pause_;   // between connections
  asio::steady_timer change_;  // cancelled when a pong comes or the connection is lost
};

}  // namespace fairlead::worker
