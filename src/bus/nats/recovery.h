// What a dead replica was given and did not answer, for those that live.
//
// A durable's messages that were delivered to a replica that died come to another one after AckWait
// only, and meanwhile they count against the most that may be without an answer. A recovery reads
// them from the stream instead: between the consumer's ack floor and the last message that it
// delivered. What this process has, gave back or answered is passed over; the rest is given to the
// handler of the durable like any delivery, and its verdict is told to the server under an
// acknowledgement subject that is made of the sequence.
//
// Which of these messages were acknowledged, and which are in the hands of a replica that lives,
// the server does not tell. Handlers can tell a repeat; to keep such repeats few, run() takes only
// what it has seen delivered for some time.
//
// One message that stays unanswered keeps the floor where it is, however many behind it are done.
// So many are asked for at once, and before they are given to anybody the store is asked which of
// them a change has answered.
//
// The recovery remembers how far it has read: no message is read twice. What it passed over may be
// lost all the same, when it was given back and then came to a replica that died: look_again() is
// for that. A stream or a consumer that was lost and made anew is read from its beginning.
#pragma once

#include <deque>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "base/time.h"
#include "bus/nats/consumer.h"
#include "bus/nats/jetstream_api.h"
#include "runtime/loop.h"
#include "runtime/task.h"

namespace fairlead::bus::nats {

struct Recovered {
  uint64_t read = 0;        // messages read from the stream
  uint64_t recovered = 0;   // of these, given to the handler
  uint64_t said_again = 0;  // of these, those whose acknowledgement was said again
  uint64_t unreadable = 0;  // passed over
};

// Of messages, by their marks (bus::Delivery::mark): whether each is known to be processed.
using AskProcessed = std::function<Future<Result<std::vector<bool>>>(std::vector<std::string>)>;

class Recovery {
 public:
  // All must outlive the recovery, or rather its runs.
  Recovery(Loop& loop, JetStreamApi& api, Consumer& consumer, AskProcessed processed = {})
      : loop_(loop), api_(api), consumer_(consumer), processed_(std::move(processed)) {}

  // One at a time. Takes what was delivered at least this long ago, as far as earlier runs have
  // seen; zero: all. Ends when the last message was given to the handler's queue, not when it was
  // handled. After an error the next run goes on where this one stopped.
  Task<Result<Recovered>> run(Duration delivered_for);

  // The next run reads everything that is not known to be acknowledged.
  void look_again() { read_to_ = 0; }

 private:
  struct State {
    uint64_t ack_floor = 0;
    uint64_t delivered = 0;   // the last sequence of the stream
    uint64_t deliveries = 0;  // how many there were
    WallTime created;         // when the consumer was made
  };
  struct Mark {
    MonotonicTime at;
    uint64_t delivered = 0;
  };

  static constexpr uint64_t kWindowMin = 4;
  static constexpr uint64_t kWindowMax = 64;

  Task<Result<State>> ask();
  // Forgets what was read if this is another consumer, or one that lost what it had delivered.
  void notice(const State& state);
  // The last sequence that was delivered by then, as far as is known; 0: none.
  uint64_t delivered_by(MonotonicTime then);
  // A stretch of the stream, with the next sequence to be asked for.
  struct Window {
    uint64_t next = 0;
    uint64_t last = 0;
  };
  struct Next {
    uint64_t sequence = 0;                 // 0: there is none
    std::optional<StoredMessage> message;  // nothing: it is not readable
  };

  // The next message of the durable from a sequence on.
  Future<Result<ApiAnswer>> ask_next(uint64_t sequence);
  static Result<Next> read_next(Result<ApiAnswer> answer, uint64_t asked);
  // Reads on, at most up to `last`, and notes how far it came.
  Task<Result<std::vector<StoredMessage>>> read_on(uint64_t last, Recovered& total);
  Task<void> take_all(std::vector<StoredMessage> messages, const State& state, Recovered& total);
  void take(StoredMessage message, bool processed, const State& state, Recovered& total);

  Loop& loop_;
  JetStreamApi& api_;
  Consumer& consumer_;
  AskProcessed processed_;
  uint64_t read_to_ = 0;
  uint64_t window_ = kWindowMin;  // by how thick the messages lie
  std::deque<Mark> marks_;
  WallTime created_;
};

}  // namespace fairlead::bus::nats
