// Where sessions' commands are done: on the loop, on the bus. It keeps the subscriptions of every
// client and answers publishes on durable subjects when they are safe. When nobody listens for a
// worker's jobs any more, it says so on the bus: the worker ended, or its connection did.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include "base/limits.h"
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

  // All must outlive the desk. `subscriptions_max`: of all clients together.
  Desk(Loop& loop, bus::OpenBus& bus, Log& log, Outlet outlet,
       size_t subscriptions_max = limits::kSubscriptionsOfAllMax);
  ~Desk();

  void obey(std::vector<Command> commands);

  // Publishes under way.
  size_t in_hand() const { return publishes_.running(); }
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
    std::string worker;  // whose jobs it listens for; "": it is something else
    std::unique_ptr<bus::Subscription> subscription;
  };
  // Jobs on their way to the system, by number.
  using Unwritten = std::map<uint64_t, Completer<Result<void>>>;
  struct Client {
    std::unordered_map<std::string, std::unique_ptr<Remote>> subscriptions;
    Unwritten unwritten;
  };
  using Clients = std::map<uint64_t, Client>;

  void subscribe(Command command);
  void unsubscribe(const Command& command);
  void deliver(Remote& remote, bus::Delivery delivery, uint64_t number = 0);
  Task<bus::Verdict> deliver_surely(Remote& remote, bus::Delivery delivery);
  void written(uint64_t client, uint64_t up_to);
  void remove(uint64_t client, const std::string& name);
  void listens(const std::string& worker);
  void listens_no_more(const std::string& worker);
  void forget(uint64_t client);
  void forget_if_idle(Clients::iterator client);
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
  const size_t subscriptions_max_;
  std::shared_ptr<Desk*> self_;  // names the living desk to work that may outlive it
  Clients clients_;
  size_t subscription_count_ = 0;
  uint64_t last_number_ = 0;
  std::unordered_map<std::string, size_t> listeners_;  // by worker
  std::vector<Reply> replies_;
  std::vector<Reply> behind_;
  bool obeying_ = false;
  bool flush_posted_ = false;
  Nursery publishes_;
};

}  // namespace fairlead::edge::nats
