// Publishing: each message is answered by whoever has it.
//
// A message for a stream is a question that the stream answers: stored, also when it had it before
// (the same id within its duplicate window); refused, when it says why not, or when no stream
// listens to the subject after limits::kNoRespondersRetriesMax more tries; unknown, when no answer
// comes in limits::kNatsAnswerWait or the connection breaks. Where workers may listen beside the
// stream, they have the message whatever it says of it: then its refusal is unknown as well.
//
// A message for whoever listens now is sent with a subject for an answer too, and behind all that
// were sent in one turn of the loop follows one message to ourselves. The server handles what one
// connection sends in order: when that comes back, a message that nobody listens to has been
// answered with "no responders" (refused), and all others were given to somebody (stored, which
// says no more than that: a listener may be gone before it reads it).
//
// One that needs no listener is stored in either case.
//
// Pushing back. Beyond limits::kPublishesInFlightMax messages or limits::kPublishBytesInFlightMax
// bytes without an answer, and while there is no connection, a message is refused at once.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "bus/bus.h"
#include "bus/nats/link.h"
#include "bus/nats/replies.h"
#include "runtime/loop.h"

namespace fairlead::bus::nats {

struct PublishCounters {
  uint64_t stored = 0;
  uint64_t duplicates = 0;  // of the stored
  uint64_t refused = 0;
  uint64_t unknown = 0;
  uint64_t retried = 0;
};

class Publisher {
 public:
  // kStreamAndListeners: some may listen beside the stream. kRecord: what it tells is kept
  // elsewhere, and nobody need listen.
  enum class To { kStream, kStreamAndListeners, kListeners, kRecord };

  // All must outlive the publisher.
  Publisher(Loop& loop, Link& link, Replies& replies);
  Publisher(const Publisher&) = delete;
  Publisher& operator=(const Publisher&) = delete;

  Future<Result<Published>> publish(std::string subject, std::string payload, std::string id,
                                    To to);

  size_t in_flight() const { return in_flight_.size(); }
  const PublishCounters& counters() const { return counters_; }
  // What a stream said when it last refused a message, unless it took one since or that is
  // limits::kRefusalRemembered ago: then nothing.
  std::string refusal() const;

 private:
  struct Message {
    std::string subject;
    std::string payload;
    std::string id;
    To to;
    Completer<Result<Published>> answer{};
    int tries = 0;
    std::string reply{};  // where an answer is expected

    bool is_streamed() const { return to == To::kStream || to == To::kStreamAndListeners; }
  };

  Sending send(uint64_t number, Message& message);
  void take(uint64_t number, const Reply& reply);
  void take_from_stream(uint64_t number, Message& message, const Reply& reply);
  void note_refusal(std::string_view subject, std::string_view why);
  void retry(uint64_t number);
  void settle(uint64_t number, Published outcome);
  void fence_later(uint64_t number);
  void fence();
  void take_fence(const std::vector<uint64_t>& numbers, const Reply& reply);

  Loop& loop_;
  Link& link_;
  Replies& replies_;
  uint64_t last_ = 0;
  std::unordered_map<uint64_t, Message> in_flight_;
  size_t bytes_in_flight_ = 0;
  std::vector<uint64_t> unfenced_;  // sent to listeners in this turn
  PublishCounters counters_;
  std::string last_refusal_;
  MonotonicTime refused_at_{};
  // Names the living publisher to what is posted.
  std::shared_ptr<Publisher*> self_;
};

}  // namespace fairlead::bus::nats
