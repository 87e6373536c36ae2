// A client of NATS: what it listens to, it listens to again with every connection.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "tests/load/wire.h"

namespace fairlead::load {

// The number that a text begins with; 0 when there is none.
uint64_t number_in(std::string_view text);

struct NatsMessage {
  std::string_view subject;
  std::string_view payload;
};

class NatsClient {
 public:
  using Heard = std::function<void(const NatsMessage&)>;

  NatsClient(asio::io_context& context, std::string name)
      : context_(context), name_(std::move(name)) {}
  ~NatsClient() { close(); }
  NatsClient(const NatsClient&) = delete;
  NatsClient& operator=(const NatsClient&) = delete;

  // REQUIRES: not connected yet.
  void subscribe(std::string subject, Heard heard);
  bool connect(const Endpoint& place);
  // Nothing happens while there is no connection.
  void publish(std::string_view subject, std::string_view payload, std::string_view reply = {});
  void close();

  const std::string& name() const { return name_; }
  bool connected() const { return connected_; }

 private:
  struct Subscription {
    std::string subject;
    Heard heard;
  };

  size_t take(std::string_view bytes);
  void hear(std::string_view line, std::string_view payload);

  asio::io_context& context_;
  std::string name_;
  std::vector<Subscription> subscriptions_;  // their ids on the wire are their places here
  std::shared_ptr<Wire> wire_;
  bool connected_ = false;
};

}  // namespace fairlead::load
