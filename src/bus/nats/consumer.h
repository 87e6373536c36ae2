// A durable consumer as this process takes part in it: the messages in its hands, and what became
// of those that it answered.
//
//   arrived, recovered ──► its Group ──► a handler ──► answer
//        │ in our hands, or answered: not again           ack, terminate ──► the server
//                                                         nak ──► the server, with the delay
//                                                         blameless nak ──► kept, and again here
//
// A message counts as delivered with every nak that the server sees, and is lost to everybody when
// it has come limits::kDeliveriesMax times. So a nak for which the message is not to blame stays
// here, as does one after the last delivery: the message waits in our hands. While it does, and
// while its handler runs, the server is told in time that we still work on it.
//
// Acknowledgements are not answered; those of a connection that breaks may be lost. The last ones
// are therefore sent again over the next connection, and a message that comes again though we
// acknowledged it is acknowledged once more. A stream that was lost and made anew begins to count
// anew, and one that lost its last messages counts on from there, so what we know of a message is
// bound to the time at which it was stored: answers are sent again only to a consumer and for
// messages that are still the same.
#pragma once

#include <deque>
#include <memory>
#include <string>
#include <unordered_map>

#include "base/log.h"
#include "bus/group_server.h"
#include "bus/nats/jetstream_api.h"
#include "bus/nats/link.h"
#include "bus/nats/settings.h"
#include "bus/nats/stored_message.h"
#include "runtime/clock.h"

namespace fairlead::bus::nats {

struct ConsumerCounters {
  uint64_t acked = 0;
  uint64_t naked = 0;  // to the server
  uint64_t kept = 0;   // naks that stayed here
  uint64_t terminated = 0;
  uint64_t repeated = 0;  // messages that came while we had them, or after we had answered them
  uint64_t recovered = 0;
};

class Consumer {
 public:
  // What gives a message back at once.
  static constexpr std::string_view kNak = "-NAK";
  // The server itself is not sure to the millisecond when it made a consumer.
  static constexpr Duration kSameCreation = std::chrono::seconds(1);

  // All must outlive the consumer.
  struct Plugs {
    Loop& loop;
    Link& link;
    JetStreamApi& api;
    GroupServer& server;
    Log& log;
    const Settings& settings;
  };

  // `deliver_subject` is where messages go if the consumer has to be made.
  Consumer(Plugs plugs, std::string subject, std::string queue, std::string deliver_subject);
  Consumer(const Consumer&) = delete;
  Consumer& operator=(const Consumer&) = delete;
  ~Consumer();

  // Finds the consumer on the server, or makes it. The error is kInvalid when there is one with
  // other settings. Called again from time to time: a Go replica that ends may take the consumer
  // away, and whoever makes the next one chooses where it delivers to.
  Task<Result<void>> bind();
  bool bound() const { return !deliver_subject_.empty(); }

  // Messages come while somebody takes them.
  void listen();
  void ignore();
  bool listens() const { return listener_ != 0; }
  uint64_t listener() const { return listener_; }

  void arrived(Arrival arrival);
  // A message that the server gave to somebody who did not answer it. `delivered` is how many
  // deliveries the consumer has made by now: a nak must name one that is not yet acknowledged.
  void recovered(StoredMessage message, uint64_t delivered);
  // A new connection is there, and bind() succeeded on it.
  Task<void> connected();

  // What a handler said. REQUIRES: the entry was released from the group.
  void answer(Entry entry, const Verdict& verdict);
  // Nobody here will handle it.
  void give_back(const Entry& entry);

  enum class Knowledge { kNothing, kInHands, kGivenBack, kAnswered };
  Knowledge knows(Sequence sequence, WallTime stored_at) const;
  // Says again what was said. REQUIRES: knows() is kAnswered.
  void answer_again(Sequence sequence);
  // It was acknowledged by somebody, or should have been: says so. REQUIRES: knows() is kNothing.
  void answered_elsewhere(Sequence sequence, WallTime stored_at);
  size_t in_hands() const { return in_hands_.size(); }

  // As bus::Delivery::mark.
  std::string mark_of(Sequence sequence, WallTime stored_at) const;
  const std::string& subject() const { return group_->pattern(); }
  const std::string& stream() const { return stream_; }
  const std::string& name() const { return name_; }
  const std::shared_ptr<Group>& group() const { return group_; }
  const ConsumerCounters& counters() const { return counters_; }

 private:
  struct InHands {
    WallTime stored_at;
    std::string ack_subject;
    MonotonicTime told;  // when the server last knew that we have it
  };
  struct GivenBack {
    WallTime stored_at;
    MonotonicTime due;  // when it comes again
  };
  struct Answered {
    WallTime stored_at;
    bool acked = true;  // or terminated
  };

  Result<void> take_over(const boost::json::object& config);
  std::string ack_subject(Sequence sequence, uint64_t delivery = 1) const;
  void admit(StoredMessage message, std::string ack_subject, uint32_t deliveries_before);
  bool say(std::string_view ack_subject, std::string_view what);
  void settle(const Entry& entry, bool acked);
  void remember(uint64_t number, Answered answer);
  // Out of our hands; nothing if the stream began anew and this is none of its messages.
  std::optional<InHands> let_go(const Entry& entry);
  void nak(const Entry& entry, Duration delay);
  void keep(Entry entry, Duration delay);
  void watch();
  void tell_progress();
  void forget_given_back();

  Plugs plugs_;
  std::string stream_;
  std::string name_;
  std::string own_deliver_subject_;
  std::string deliver_subject_;  // empty: not bound
  WallTime created_;             // as the server says
  std::shared_ptr<Group> group_;
  uint64_t listener_ = 0;

  // All by sequence.
  std::unordered_map<uint64_t, InHands> in_hands_;
  std::unordered_map<uint64_t, GivenBack> given_back_;
  std::unordered_map<uint64_t, Answered> answered_;  // the last ones
  std::deque<uint64_t> answered_order_;
  ConsumerCounters counters_;
  std::optional<TimerId> watch_timer_;
  std::shared_ptr<Consumer*> self_;
};

}  // namespace fairlead::bus::nats
