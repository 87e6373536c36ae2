// Results on their way: each is sent until the server says that it is stored, over as many
// connections as that takes.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>

#include <boost/asio/awaitable.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/steady_timer.hpp>

#include "cordum/agent/v1/job.pb.h"
#include "runtime/clock.h"
#include "worker/nats_client.h"

namespace fairlead::worker {

class ResultOutbox {
 public:
  // `delivered` is told of each result that the server has. All must outlive the outbox.
  ResultOutbox(asio::io_context& context, Clock& clock, Random& random, NatsClient& client,
               std::function<void(const std::string& job)> delivered);

  void send(const cordum::agent::v1::JobResult& result, std::string trace);
  // There is a connection again: nothing waits any longer for an answer of the old one.
  void connected();
  size_t size() const { return waiting_.size(); }

 private:
  struct Waiting {
    Waiting(asio::io_context& context) : answer(context) {}
    std::string job;
    std::string packet;
    std::string headers;
    int unanswered = 0;
    bool stored = false;
    asio::steady_timer answer;
  };

  asio::awaitable<void> deliver(uint64_t number, std::shared_ptr<Waiting> waiting);
  void hear(const ServerSaid& said);

  asio::io_context& context_;
  Clock& clock_;
  NatsClient& client_;
  std::function<void(const std::string&)> delivered_;
  std::string inbox_;
  uint64_t last_number_ = 0;
  std::map<uint64_t, std::shared_ptr<Waiting>> waiting_;
};

}  // namespace fairlead::worker
