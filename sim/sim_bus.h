// The simulated bus: a broker that the whole world shares, and one endpoint for each replica.
//
// Durable subjects are delivered at least once: again when nobody answers within the ack wait, when
// a replica dies, and now and then for no reason; late, and out of order. Other subjects reach who
// listens, perhaps twice. Publishes of replicas may be refused, or lose their answer with or
// without having been stored.
//
// With a stream, dispatches are kept in it too, messages have marks, and one whose id came within
// the duplicate window is heard but not stored again. A stream may lose its end: messages that came
// last are gone, with their ids, acknowledgements that came last are forgotten, and numbers of what
// was lost are given again.
//
// The bus may go away for a while: it takes nothing from replicas, nobody hears anything, and
// whoever of the world has something durable to say waits until it is back.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "bus/bus.h"
#include "runtime/nursery.h"
#include "sim/network.h"

namespace fairlead::sim {

class SimBus;

// A replica's connection. Its handlers run in its own nursery and end with it.
class BusEndpoint final : public bus::Bus {
 public:
  BusEndpoint(SimBus& broker, std::weak_ptr<Process> process, std::function<void()> crash);
  ~BusEndpoint() override;

  Future<Result<bus::Published>> publish(std::string subject, std::string payload,
                                         std::string id) override;
  Future<Result<std::optional<bool>>> stored(std::string subject, std::string id) override;
  Result<std::unique_ptr<bus::Subscription>> subscribe(std::string subject,
                                                       bus::SubscribeOptions options,
                                                       bus::Handler handler) override;
  std::optional<MonotonicTime> listening_since() const override;

 private:
  friend class SimBus;
  struct Listener {
    std::string subject;
    bus::SubscribeOptions options;
    bus::Handler handler;
    std::set<std::string> busy;  // keys being handled
  };

  // What becomes of a publish.
  struct Fate {
    bus::Published answer = bus::Published::kStored;
    bool arrives = true;
  };
  Fate draw_fate(const std::string& subject);
  // `attempt` is of the message's delivery; of a plain one both are 0.
  Task<void> handle(uint64_t listener, bus::Delivery delivery, uint64_t message, uint64_t attempt);

  SimBus& broker_;
  const uint64_t connection_;
  const MonotonicTime made_;
  std::weak_ptr<Process> process_;
  std::function<void()> crash_;
  std::map<uint64_t, Listener> listeners_;
  uint64_t subscribed_ = 0;
  Nursery nursery_;
};

class SimBus {
 public:
  // What a simulated worker does with a packet sent to it.
  using WorkerInbox = std::function<void(std::string packet)>;

  explicit SimBus(WorldPlugs& world) : world_(world) {}

  // For clients and workers of the world: stored at once, delivered when it pleases.
  void publish(const std::string& subject, std::string payload, const std::string& id = {});

  void connect_worker(const std::string& subject, WorkerInbox inbox) {
    workers_[subject] = std::move(inbox);
  }
  void disconnect_worker(const std::string& subject) { workers_.erase(subject); }

  // Called with every dispatch that a replica gives to the bus, before its fate is known.
  std::function<void(const std::string& subject, const std::string& packet)> on_dispatch;

  // Called with every message about a dead letter that the bus takes.
  std::function<void(const std::string& packet)> on_dead_letter;

  // Called with every result that is acknowledged.
  std::function<void(const std::string& packet)> on_result_answered;

  // Called with every message that a stream loses.
  std::function<void(const std::string& subject, const std::string& packet)> on_lost;

  size_t undelivered() const { return messages_.size(); }

  // The stream forgets what came in the last `time`.
  void lose_end_of_stream(Duration time);

  void go_away(Duration time);
  void come_back();
  bool is_away() const { return away_; }
  // When it came back last, or will.
  MonotonicTime back_at() const { return back_at_; }

 private:
  friend class BusEndpoint;
  struct Message {
    std::string subject;
    std::string payload;
    Sequence sequence;
    WallTime stored_at;
    uint32_t deliveries = 0;
    uint64_t attempt = 0;  // of the delivery that may answer
  };
  struct Acknowledged {
    MonotonicTime at;
    uint64_t id;
    Message message;
  };

  void store(const std::string& subject, std::string payload);
  // Whether the stream has had a message of this id lately; if not, it has now.
  bool is_repeat(const std::string& id);
  void fan_out(const std::string& subject, const std::string& payload);
  void send(uint64_t connection, uint64_t listener, const std::string& subject,
            const std::string& payload);
  void to_worker(const std::string& subject, const std::string& payload);
  void deliver_after(uint64_t message, Duration delay);
  void deliver(uint64_t message, uint64_t attempt);
  void answered(uint64_t message, uint64_t attempt, const bus::Verdict& verdict);
  BusEndpoint* choose(const std::string& subject, uint64_t& listener);

  WorldPlugs& world_;
  std::map<std::string, WorkerInbox> workers_;
  std::map<uint64_t, BusEndpoint*> endpoints_;
  uint64_t connected_ = 0;
  std::map<uint64_t, Message> messages_;    // by an id of ours that is never given again
  std::vector<Acknowledged> acknowledged_;  // where they may be forgotten
  bool away_ = false;
  MonotonicTime back_at_{};
  std::vector<std::pair<std::string, std::string>> held_back_;  // subjects and packets
  std::map<std::string, MonotonicTime> stream_;                 // ids of stored dispatches
  std::map<std::string, MonotonicTime> ids_;                    // of other stored messages
  uint64_t messages_made_ = 0;
  uint64_t sequences_ = 0;
};

}  // namespace fairlead::sim
