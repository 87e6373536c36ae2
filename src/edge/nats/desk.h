// Where sessions' commands are done: on the loop, on the bus. It keeps the subscriptions of every
// client and answers publishes on durable subjects when they are safe.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include "base/log.h"
#include "bus/open_bus.h"
#include "edge/nats/exchange.h"
#include "runtime/loop.h"
#include "runtime/nursery.h"

namespace fairlead::edge::nats {

class Desk {
 public:
  // Gets replies in batches, on the loop's thread.
  using Outlet = std::function<void(std::vector<Reply>)>;

  // All must outlive the desk.
  Desk(Loop& loop, bus::OpenBus& bus, Log& log, Outlet outlet);
  ~Desk();

  void obey(std::vector<Command> commands);

  // Publishes under way.
  size_t publishing() const { return publishes_.running(); }
  // Gives what is ready to the outlet now.
  void flush();

  size_t clients() const { return clients_.size(); }
  size_t subscriptions() const { return subscription_count_; }

 private:
  struct Remote {
    uint64_t client = 0;
    std::shared_ptr<const std::string> name;
    std::shared_ptr<Backlog> backlog;
    uint64_t delivered = 0;
    std::optional<uint64_t> max;
    std::unique_ptr<bus::Subscription> subscription;
  };
  struct Client {
    std::unordered_map<std::string, std::unique_ptr<Remote>> subscriptions;
  };

  void subscribe(Command command);
  void unsubscribe(const Command& command);
  void deliver(Remote& remote, bus::Delivery delivery);
  void remove(uint64_t client, const std::string& name);
  void forget(uint64_t client);
  Task<void> publish(Command command);
  Task<Result<bus::Published>> publish_unasked(bus::Message message);
  void answer(const std::string& reply, std::string payload, std::string_view headers);
  void put(Reply reply);
  // As put(), behind the messages that the bus delivers because of the commands at hand: a client
  // that hears PONG has what was sent before its PING.
  void put_behind(Reply reply) { behind_.push_back(std::move(reply)); }
  void post_behind();

  Loop& loop_;
  bus::OpenBus& bus_;
  Log& log_;
  Outlet outlet_;
  std::shared_ptr<Desk*> self_;  // names the living desk to work that may outlive it
  std::map<uint64_t, Client> clients_;
  size_t subscription_count_ = 0;
  std::vector<Reply> replies_;
  std::vector<Reply> behind_;
  bool obeying_ = false;
  bool flush_posted_ = false;
  Nursery publishes_;
};

}  // namespace fairlead::edge::nats
