#include "bus/group_server.h"

#include "base/limits.h"

namespace fairlead::bus {

namespace {

using namespace std::chrono_literals;

constexpr Duration kPanicRetry = 1s;

Delivery delivery_of(const Entry& entry) {
  const Envelope& envelope = *entry.envelope;
  return {.subject = envelope.subject,
          .payload = envelope.payload,
          .sequence = envelope.sequence,
          .stored_at = envelope.stored_at,
          .deliveries = entry.deliveries,
          .in_order = envelope.in_order,
          .queued = entry.stored,
          .mark = envelope.mark,
          .extras = envelope.extras};
}

}  // namespace

GroupServer::GroupServer(Loop& loop, Owner& owner, HandlingCounters& counters)
    : loop_(loop),
      owner_(owner),
      counters_(counters),
      self_(std::make_shared<GroupServer*>(this)) {}

void GroupServer::make_ready(const GroupPtr& group) {
  if (group->listed) return;
  group->listed = true;
  ready_.push_back(group);
  post_turn();
}

void GroupServer::post_turn() {
  if (turn_posted_) return;
  turn_posted_ = true;
  loop_.post([self = std::weak_ptr(self_)] {
    if (auto server = self.lock()) (*server)->turn();
  });
}

// Publishers and handlers run in here; one of them may end the bus.
void GroupServer::turn() {
  std::weak_ptr<GroupServer*> self = self_;
  turn_posted_ = false;
  std::vector<GroupPtr> ready = std::exchange(ready_, {});
  owner_.begin_turn();
  for (const GroupPtr& group : ready) {
    if (self.expired()) return;
    serve(group);
  }
}

void GroupServer::serve(const GroupPtr& group) {
  if (stopped_ || !group->has_members()) {
    group->listed = false;
    owner_.put_away(group);
    return;
  }
  std::weak_ptr<GroupServer*> self = self_;
  // What arrives meanwhile has its turn after the others.
  for (size_t count = group->waiting(); count > 0 && !stopped_; --count) {
    std::optional<Group::Start> start = group->start_next();
    if (!start) break;
    tasks_.spawn(handle(group, *std::move(start)));
    if (self.expired()) return;
  }
  group->listed = false;
  // The last member may have left while its handler began.
  if (group->can_start() || stopped_ || !group->has_members()) make_ready(group);
}

Task<void> GroupServer::handle(GroupPtr group, Group::Start start) {
  const std::shared_ptr<Envelope> envelope = start.entry->envelope;
  const bool worn_out =
      group->durable() && start.entry->deliveries - start.entry->forgiven >= limits::kDeliveriesMax;
  Verdict verdict;
  try {
    if (worn_out) {
      verdict = co_await give_up(delivery_of(*start.entry));
    } else {
      ++counters_.delivered;
      auto handling = start_handler(start);
      verdict = co_await std::move(handling);
    }
  } catch (...) {
    ++counters_.panicked;
    verdict = Verdict::nak(worn_out ? limits::kPoisonRetry : kPanicRetry, "packet handler panic");
  }

  if (start.member->left) co_return owner_.heard(*envelope, verdict);
  if (auto more = owner_.answer(std::move(group), start, verdict)) co_await *std::move(more);
}

Task<Verdict> GroupServer::start_handler(const Group::Start& start) {
  Delivery delivery = delivery_of(*start.entry);
  if (delivery.deliveries > 1) ++counters_.redelivered;
  return start.member->handler(std::move(delivery));
}

Task<Verdict> GroupServer::give_up(Delivery delivery) {
  std::string reason = "delivered too often";
  if (terminated_hook_) {
    Result<void> told = co_await terminated_hook_(std::move(delivery), reason);
    if (!told) co_return Verdict::nak(limits::kPoisonRetry, told.error().describe());
  }
  co_return Verdict::terminate(std::move(reason));
}

void GroupServer::cancel() {
  stopped_ = true;
  tasks_.cancel();
}

void GroupServer::drop() {
  stopped_ = true;
  self_.reset();
  tasks_.drop();
  ready_.clear();
}

}  // namespace fairlead::bus
