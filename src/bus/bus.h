// The bus: how replicas, workers and clients tell each other that something may have changed. What
// is true is what the store says; a bus may lose time, never a job.
//
// Subjects are tokens between dots. A subscription may use `*` for one token and `>` for the rest.
// Subscribers of the same queue group share the messages; each message goes to one of them.
//
// Subjects that carry work are durable (see is_durable): a publish is answered when the message is
// in safe hands, and a durable subscription gets every message until it says ack or terminate. A
// dead letter needs no subscription: the store has it. On
// other subjects a message reaches whoever listens now, and may be lost.
//
// All calls are made on the loop's thread, and handlers run on it.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "base/ids.h"
#include "base/limits.h"
#include "base/result.h"
#include "base/time.h"
#include "runtime/future.h"
#include "runtime/task.h"

namespace fairlead::bus {

// What became of a publish.
enum class Published {
  kStored,   // somebody has it: a stream, a durable handler's commit, or a listener
  kRefused,  // nobody has it and nobody will
  kUnknown,  // the answer was lost: somebody may have it
};

struct Verdict {
  enum class Kind { kAck, kNak, kTerminate };
  Kind kind = Kind::kAck;
  Duration delay{};    // of a nak: redelivered after it
  std::string reason;  // for logs
  // Of a nak: the message is not to blame, so the delivery is not counted against it (H-99) where
  // the bus can help it.
  bool blameless = false;

  static Verdict ack() { return {}; }
  static Verdict nak(Duration delay, std::string reason) {
    return {Kind::kNak, delay, std::move(reason)};
  }
  static Verdict not_now(Duration delay, std::string reason) {
    return {Kind::kNak, delay, std::move(reason), true};
  }
  static Verdict terminate(std::string reason) { return {Kind::kTerminate, {}, std::move(reason)}; }
};

// What may travel beside a payload. Few messages have any; those who get one share it.
struct Extras {
  std::string reply;    // the subject on which an answer is wanted; empty: none is
  std::string headers;  // a block as NATS clients write it, "NATS/1.0\r\n…\r\n\r\n"; empty: none
};

struct Delivery {
  std::string subject;
  std::string payload;
  Sequence sequence;        // on the bus; grows with every message, also across restarts
  WallTime stored_at;       // when the bus got it
  uint32_t deliveries = 1;  // this one included
  // Sequence and time are of a stream, or of the one bus there is: the same for all who get it. If
  // not, they are made by who tells them, and cannot be compared.
  bool in_order = true;
  // The message lies in our own store: the change that answers it may consume it (Change::consumed)
  // and so acknowledge it in the same commit.
  std::optional<Sequence> queued;
  // Else the name under which a change that answers it says so (Change::mark), so that it is known
  // when it comes again; empty: it does not come again.
  std::string mark{};
  // The name to note that it is being handled, in case it comes yet again. The first delivery is
  // nobody else's before its time is long over, and noting each would cost two writes a message.
  std::string in_flight_mark() const { return deliveries > 1 ? mark : std::string(); }
  // nullptr: none. A message that comes again out of the store has lost them.
  std::shared_ptr<const Extras> extras{};
};

using Handler = std::function<Task<Verdict>(Delivery)>;
// Told before a message is given up; an error puts it off by limits::kPoisonRetry.
using TerminatedHook = std::function<Task<Result<void>>(Delivery delivery, std::string reason)>;

struct SubscribeOptions {
  std::string queue;  // empty: every subscriber gets every message
  // Handlers that may run at once; further messages wait in a bounded queue, and when that is full
  // publishers are pushed back.
  size_t in_flight_max = limits::kHandlersInFlightMax;
  // Messages with the same key are handled one at a time, in order. Empty function: no such rule.
  std::function<std::string_view(std::string_view payload)> key;
  // Whether a queue group on a durable subject consumes it. If not, it overhears what passes, apart
  // from a group of the same name that does.
  bool consumes = true;
  // Messages of this origin are not for this subscription; 0: all are.
  uint64_t deaf_to = 0;
};

// Ends its subscription when destroyed. Handlers that run go on; messages that they have not
// answered are delivered again, elsewhere or later.
class Subscription {
 public:
  virtual ~Subscription() = default;
};

class Bus {
 public:
  virtual ~Bus() = default;

  // `id` names the message for duplicate detection; empty: none. On a plain subject it means that
  // the answer waits, where the bus can tell, until who listens has the message.
  virtual Future<Result<Published>> publish(std::string subject, std::string payload,
                                            std::string id) = 0;
  // Whether a message of this id was stored on the subject, where the bus keeps a stream that can
  // be asked. No value: it cannot tell.
  virtual Future<Result<std::optional<bool>>> stored(std::string subject, std::string id) = 0;

  virtual Result<std::unique_ptr<Subscription>> subscribe(std::string subject,
                                                          SubscribeOptions options,
                                                          Handler handler) = 0;

  // Since when nothing that is published passes us by, by the loop's clock. No value: there is no
  // connection. Who was not heard before then may have spoken all the same.
  virtual std::optional<MonotonicTime> listening_since() const = 0;
};

inline constexpr std::string_view kSubmitSubject = "sys.job.submit";
inline constexpr std::string_view kResultSubject = "sys.job.result";
inline constexpr std::string_view kCancelSubject = "sys.job.cancel";
inline constexpr std::string_view kProgressSubject = "sys.job.progress";
inline constexpr std::string_view kDeadLetterSubject = "sys.job.dlq";
inline constexpr std::string_view kHeartbeatSubject = "sys.heartbeat";
// A component introduces itself; of a worker, with the topics that it takes, if not all.
inline constexpr std::string_view kHandshakeSubject = "sys.handshake";
// Nobody listens for a worker's jobs any more; the payload is its id.
inline constexpr std::string_view kWorkerGoneSubject = "fairlead.worker.gone";
inline constexpr std::string_view kConfigSubject = "sys.config.changed";
inline constexpr std::string_view kSchedulerQueue = "cordum-scheduler";

// Work that must not be lost between two processes: submit, result, cancel and dead letters. The
// dispatch of a job is not among them: its record says that it is on the way.
bool is_durable(std::string_view subject);

// A subject to publish on: 1 to kSubjectBytesMax bytes of printable tokens between single dots, no
// wildcards.
Result<void> validate_subject(std::string_view subject);
// A subject to subscribe to: `*` alone as a token, `>` alone as the last.
Result<void> validate_pattern(std::string_view pattern);
bool matches(std::string_view pattern, std::string_view subject);

}  // namespace fairlead::bus
