// The bus of one process, with the store as the memory of what could not be handled.
//
// Plain subjects. A message goes to every matching subscription without a queue name and to one
// member of each matching queue group, in turn. It is stored (kStored) when at least one took it;
// kRefused when nobody listens or every taker's queue is full. One that has an id is answered when
// its takers have handled it: kStored if all said ack, kRefused if they left before they got it,
// kUnknown otherwise. Without an id what a handler says makes no difference.
//
// Durable subjects. A queue group on the very subject is a durable consumer: each message is
// handled by one of its members until that says ack or terminate. Others are taps: they get the
// message as on a plain subject. The scheduler's group consumes submits, results and cancels also
// while nobody has joined it; other groups consume while they have members, and dead letters need
// no consumer.
//   - In the good case nothing is written: publish() completes with kStored when every consumer has
//     acknowledged, which a handler does after its own commit. So message and change are durable
//     together.
//   - A nak writes the message to the store for its group and completes the publish; it is
//     delivered again after the delay, with Delivery::queued set. The same happens to messages that
//     find no member or whose member leaves as the last.
//   - A crash loses only messages whose publish was not answered; start() finds the others.
//   - The delivery numbered limits::kDeliveriesMax is not made, not counting those that ended with
//     a blameless nak: the message is terminated, after the hook of on_terminated() has kept a
//     trace of it.
//   - A message given again within limits::kDuplicateWindow under an id that was answered with
//     kStored is answered so, and not delivered.
//
// Pushing back. A group holds a bounded number of messages; when one durable consumer is full the
// publish is refused at once, and nobody got the message. The publisher tries again later.
//
// Order. Messages start in the order of publishing. With a key, one at a time per key, over all
// members of a group, which must give the same options; a nak lets the next of its key pass.
//
// No handler and no publisher runs inside a call to the bus: everything happens in one posted turn
// of the loop, however many messages it moves. The bus may be dropped or destroyed at any time but
// by a handler of its own.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include "bus/group_server.h"
#include "bus/local/duplicate_window.h"
#include "bus/local/interest.h"
#include "bus/local/sequence_blocks.h"
#include "bus/open_bus.h"
#include "runtime/clock.h"
#include "runtime/loop.h"
#include "store/store.h"

namespace fairlead::bus {

struct LocalBusCounters : HandlingCounters {
  uint64_t published = 0;  // calls to publish with a valid subject
  uint64_t acked = 0;      // these three: verdicts on durable subjects
  uint64_t naked = 0;
  uint64_t terminated = 0;
  uint64_t refused = 0;  // publishes answered with kRefused
  uint64_t queued = 0;   // messages written to the store
};

class LocalBus final : public OpenBus, private GroupServer::Owner {
 public:
  // All three must outlive the bus.
  LocalBus(Loop& loop, const Clock& clock, store::Store& store);
  ~LocalBus() override;

  // Reserves sequences and loads the messages that an earlier life left in the store; they are
  // delivered when their group subscribes. Until it has ended well, publishes are refused.
  // REQUIRES: the bus is not destroyed meanwhile.
  Task<Result<void>> start();
  void on_terminated(TerminatedHook hook) { server_.on_terminated(std::move(hook)); }

  Future<Result<Published>> publish(std::string subject, std::string payload,
                                    std::string id) override;
  Sent send(Message message) override;
  Future<Result<std::optional<bool>>> stored(std::string subject, std::string id) override;
  Result<std::unique_ptr<Subscription>> subscribe(std::string subject, SubscribeOptions options,
                                                  Handler handler) override;
  std::optional<MonotonicTime> listening_since() const override { return made_; }

  // The end, in order: running handlers are told to stop and still answer, waiting messages are
  // refused to their publishers, and nothing new is taken. idle() completes when all have ended.
  void cancel();
  Future<Result<void>> idle() { return server_.idle(); }
  // The end, at once: what a crash leaves behind is what the store has.
  void drop();

  const LocalBusCounters& counters() const { return counters_; }

 private:
  using GroupPtr = std::shared_ptr<Group>;
  class LocalSubscription;
  struct Answer {
    Completer<Result<Published>> publisher;
    Published value;
  };

  Future<Result<Published>> publish_durable(std::shared_ptr<Envelope> envelope);
  Future<Result<Published>> publish_plain(std::shared_ptr<Envelope> envelope);
  size_t offer_to_listeners(const std::shared_ptr<Envelope>& envelope);
  void admit(const GroupPtr& group, std::shared_ptr<Envelope> envelope);
  Published refuse();
  void leave(const GroupPtr& group, const std::shared_ptr<Member>& member);
  GroupPtr group_of(std::string_view pattern, std::string_view queue, bool consumes = true);

  void begin_turn() override;
  void put_away(const GroupPtr& group) override;
  // Does what the verdict says; a message that must be stored first is a task.
  std::optional<Task<void>> answer(GroupPtr group, const Group::Start& start,
                                   const Verdict& verdict) override;
  void heard(Envelope& envelope, const Verdict& verdict) override;
  Task<void> keep(GroupPtr group, Entry entry, Duration delay);
  void redeliver_after(Duration delay, GroupPtr group, Entry entry);
  void end(const GroupPtr& group, const Entry& entry);
  void settle(Envelope& envelope, Published outcome);
  Task<void> reserve_sequences();
  void forget_answered();
  Task<void> forget(std::vector<Sequence> messages);

  Loop& loop_;
  const Clock& clock_;
  store::Store& store_;
  const MonotonicTime made_;
  // Names the living bus to work that may outlive it: empty once dropped.
  std::shared_ptr<LocalBus*> self_;

  Interest interest_;
  std::unordered_map<std::string, DuplicateWindow> duplicates_;  // by durable subject
  SequenceBlocks sequences_;
  bool reserving_ = false;

  std::vector<Answer> answers_;     // to be given in the next turn
  std::vector<Sequence> answered_;  // to be forgotten by the store in the next turn
  std::vector<GroupPtr> matched_;   // of the publish at hand
  LocalBusCounters counters_;
  GroupServer server_{loop_, *this, counters_};
};

}  // namespace fairlead::bus
