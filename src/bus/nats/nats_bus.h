// The bus of the cluster: NATS, with JetStream for what must not be lost.
//
// With JetStream (Settings::jetstream, and the server has it) messages on streamed subjects
// (topology.h) are stored by their stream before a publish is answered with kStored, and a queue
// group on such a subject is a durable consumer: every message is delivered to one of its members,
// in any process, until that says ack or terminate. bind() must have succeeded before such a group
// is subscribed to. Everything else is core NATS: a message reaches whoever listens now.
//
// Without JetStream all is core NATS, under the same names: verdicts mean nothing to the server. A
// message of a queue group whose handler says that it is not to blame waits here and is handled
// again, while there is room; with any other verdict it is done with.
//
// What Published says is in publisher.h. In particular a dispatch to a worker is stored in its
// stream when it is answered so, which says nothing about the worker: one that listens with core
// NATS and is away never gets it, and one that listens gets it also when the stream calls it a
// duplicate. Without JetStream kStored says that somebody listened.
//
// Handlers run as in every bus: at most SubscribeOptions::in_flight_max at once, one at a time per
// key, over the members of a group in this process. A nak is redelivered by the server after its
// delay, to any process, unless it is blameless (consumer.h). The delivery numbered
// limits::kDeliveriesMax is not made: the message is terminated, after the hook of on_terminated()
// has kept a trace of it.
//
// Delivery::sequence is the stream's, stored_at the time at which it stored the message. Outside
// streams they are made from our own clock.
//
// The connection is made again for ever. Meanwhile publishes are refused; what was under way is
// unknown. All calls are made on the loop's thread, and none of them waits for the network.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/log.h"
#include "bus/bus.h"
#include "bus/group_server.h"
#include "bus/nats/consumer.h"
#include "bus/nats/durability.h"
#include "bus/nats/jetstream_api.h"
#include "bus/nats/link.h"
#include "bus/nats/lookup.h"
#include "bus/nats/monitor.h"
#include "bus/nats/publisher.h"
#include "bus/nats/recovery.h"
#include "bus/nats/replies.h"
#include "bus/nats/settings.h"
#include "runtime/clock.h"
#include "runtime/random.h"

namespace fairlead::bus::nats {

struct NatsBusCounters : HandlingCounters {
  uint64_t connections = 0;
  uint64_t dropped = 0;  // messages outside streams for which there was no room
};

class NatsBus final : public Bus, private GroupServer::Owner {
 public:
  // All must outlive the bus.
  struct Plugs {
    Loop& loop;
    const Clock& clock;
    Random& random;
    Log& log;
  };

  NatsBus(Plugs plugs, Settings settings);
  ~NatsBus() override;

  // Connects, and finds or makes the streams. The error says what is wrong; a bus that could not
  // start is to be destroyed. REQUIRES: the bus is not destroyed meanwhile.
  Task<Result<void>> start();
  // Finds or makes the durable consumer of a queue group on a streamed subject. The error is
  // kInvalid, and names the setting, when there is one with other settings than ours. Without
  // JetStream there is nothing to be done.
  Task<Result<void>> bind(std::string subject, std::string queue);
  void on_terminated(TerminatedHook hook) { server_.on_terminated(std::move(hook)); }

  Future<Result<Published>> publish(std::string subject, std::string payload,
                                    std::string id) override;
  // With a stream, true or nothing (lookup.h).
  Future<Result<std::optional<bool>>> stored(std::string subject, std::string id) override;
  Result<std::unique_ptr<Subscription>> subscribe(std::string subject, SubscribeOptions options,
                                                  Handler handler) override;
  std::optional<MonotonicTime> listening_since() const override { return listening_since_; }

  bool connected() const { return link_.connected(); }
  bool uses_jetstream() const { return jetstream_; }
  // Why messages are not taken though there is a connection; empty: they are.
  std::string problem() const;
  // As it was at start().
  const Durability& durability() const { return durability_; }
  // How long the stream of submits and results keeps messages; as long as it likes: max().
  Duration stream_age() const { return stream_age_; }

  // Queue groups take nothing new; what is on its way to them and what they have is handled, for
  // `patience` at the most.
  Task<void> drain(Duration patience);
  // The end, in order: running handlers are told to stop and still answer, what waits is given back
  // to the server, and nothing new is taken. idle() completes when all have ended.
  void cancel();
  Future<Result<void>> idle() { return server_.idle(); }
  // The end, at once: what is in our hands is given to others after AckWait, or recovered by them.
  void drop();

  const NatsBusCounters& counters() const { return counters_; }
  const PublishCounters& published() const { return publisher_.counters(); }
  // nullptr: not bound.
  const Consumer* consumer(std::string_view subject, std::string_view queue) const;
  // What reads the unanswered messages of a bound durable (recovery.h); it must not outlive the
  // bus. Without `processed` handlers are asked about every one. REQUIRES: bound.
  Recovery recovery(std::string_view subject, std::string_view queue, AskProcessed processed = {});

 private:
  using GroupPtr = std::shared_ptr<Group>;
  class NatsSubscription;
  // What is listened to outside streams.
  struct Channel {
    GroupPtr group;
    uint64_t listener = 0;
    bool draining = false;
  };

  Link::Callbacks callbacks();
  void arrived(Arrival arrival);
  void arrived_plain(const GroupPtr& group, Arrival arrival);
  void ended(uint64_t listener);
  bool has_work() const;
  void connected_again();
  void lost(const std::string& why);
  Task<void> look_after();
  void look_now();
  Task<Result<void>> ensure();
  Task<Result<void>> find_jetstream();
  Task<Result<void>> ensure_stream(std::string_view stream);
  Task<void> ask_durability();

  Consumer* find_consumer(const Group& group);
  GroupPtr group_of(std::string_view subject, const SubscribeOptions& options);
  void leave(const GroupPtr& group, const std::shared_ptr<Member>& member);

  void keep(GroupPtr group, Entry entry, Duration delay);

  void begin_turn() override {}
  void put_away(const GroupPtr& group) override;
  std::optional<Task<void>> answer(GroupPtr group, const Group::Start& start,
                                   const Verdict& verdict) override;

  Plugs plugs_;
  const Settings settings_;
  bool jetstream_ = false;
  NatsBusCounters counters_;
  Sequence last_sequence_;  // outside streams
  // Names the living bus to subscriptions that may outlive it.
  std::shared_ptr<NatsBus*> self_;

  const std::string inbox_;  // ends with a dot
  Replies replies_;
  Link link_;
  uint64_t replies_listener_ = 0;
  uint64_t lookup_listener_ = 0;
  JetStreamApi api_;
  Publisher publisher_;
  Lookup lookup_;
  Monitor monitor_;
  Durability durability_;
  Duration stream_age_{};
  std::optional<MonotonicTime> listening_since_;
  std::string not_ensured_;  // why streams and consumers are not as they should be; empty: they are
  std::optional<Completer<Result<void>>> first_connection_;
  std::optional<Completer<Result<void>>> next_look_;

  std::map<uint64_t, Channel> channels_;  // by listener
  std::vector<GroupPtr> draining_;        // groups that get nothing new
  std::vector<std::unique_ptr<Consumer>> consumers_;
  GroupServer server_;
};

}  // namespace fairlead::bus::nats
