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
// The recovery remembers how far it has read: no message is read twice. What it passed over may be
// lost all the same, when it was given back and then came to a replica that died: look_again() is
// for that. A stream or a consumer that was lost and made anew is read from its beginning.
#pragma once

#include <deque>

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
};

class Recovery {
 public:
  // All must outlive the recovery, or rather its runs.
  Recovery(Loop& loop, JetStreamApi& api, Consumer& consumer)
      : loop_(loop), api_(api), consumer_(consumer) {}

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

  Task<Result<State>> ask();
  // Forgets what was read if this is another consumer, or one that lost what it had delivered.
  void notice(const State& state);
  // The last sequence that was delivered by then, as far as is known; 0: none.
  uint64_t delivered_by(MonotonicTime then);
  // The next message of the durable from a sequence on; nothing: there is none.
  Task<Result<std::optional<StoredMessage>>> next_from(uint64_t sequence);
  void take(StoredMessage message, const State& state, Recovered& total);

  Loop& loop_;
  JetStreamApi& api_;
  Consumer& consumer_;
  uint64_t read_to_ = 0;
  std::deque<Mark> marks_;
  WallTime created_;
};

}  // namespace fairlead::bus::nats
