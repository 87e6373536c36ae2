#include "bus/local/local_bus.h"

#include <algorithm>
#include <span>

#include <fmt/format.h>

#include "base/limits.h"

namespace fairlead::bus {

namespace {

// Whether messages for this group are kept while nobody has joined it.
bool always_consumes(std::string_view subject, std::string_view queue) {
  return queue == kSchedulerQueue && subject != kDeadLetterSubject;
}

}  // namespace

class LocalBus::LocalSubscription final : public Subscription {
 public:
  LocalSubscription(std::weak_ptr<LocalBus*> bus, GroupPtr group, std::shared_ptr<Member> member)
      : bus_(std::move(bus)), group_(std::move(group)), member_(std::move(member)) {}
  ~LocalSubscription() override {
    if (auto bus = bus_.lock()) (*bus)->leave(group_, member_);
  }

 private:
  std::weak_ptr<LocalBus*> bus_;
  GroupPtr group_;
  std::shared_ptr<Member> member_;
};

LocalBus::LocalBus(Loop& loop, const Clock& clock, store::Store& store)
    : loop_(loop),
      clock_(clock),
      store_(store),
      made_(loop.now()),
      self_(std::make_shared<LocalBus*>(this)) {}

LocalBus::~LocalBus() {
  drop();
}

Task<Result<void>> LocalBus::start() {
  Result<Sequence> first = co_await store_.reserve_sequences(limits::kBusSequenceBlock);
  if (!first) co_return std::unexpected(first.error());

  // Full groups refuse publishes in every life, so that all of them together are bounded.
  size_t limit = limits::kSubscriptionQueueMax;
  auto left = co_await store_.queued(limit);
  while (left && left->size() == limit) {
    limit *= 2;
    left = co_await store_.queued(limit);
  }
  if (!left) co_return std::unexpected(left.error());

  for (store::StoredMessage& old : *left) {
    GroupPtr group = group_of(old.message.subject, old.message.group);
    auto envelope = std::make_shared<Envelope>();
    envelope->subject = std::move(old.message.subject);
    envelope->payload = std::move(old.message.payload);
    envelope->sequence = old.sequence;
    envelope->stored_at = old.stored_at;
    // How often it was tried is not stored; it is never the first time.
    group->admit({.envelope = std::move(envelope), .deliveries = 1, .stored = old.sequence});
    server_.make_ready(group);
  }
  sequences_.add(*first, limits::kBusSequenceBlock);
  co_return Result<void>{};
}

// --- Publishing ----------------------------------------------------------------------------------

Future<Result<Published>> LocalBus::publish(std::string subject, std::string payload,
                                            std::string id) {
  return send({std::move(subject), std::move(payload), std::move(id)}).published;
}

Sent LocalBus::send(Message message) {
  auto not_accepted = [](Future<Result<Published>> answer) {
    return Sent{Sequence(0), false, std::move(answer)};
  };
  if (auto valid = validate_subject(message.subject); !valid) {
    return not_accepted(std::unexpected(valid.error()));
  }
  if (message.payload.size() > limits::kPacketBytesMax) {
    return not_accepted(fail(ErrorCode::kInvalid, fmt::format("payload of {} bytes is too large",
                                                              message.payload.size())));
  }
  ++counters_.published;
  const bool durable = is_durable(message.subject);
  if (durable && !message.id.empty()) {
    auto first = duplicates_[message.subject].seen(message.id, clock_.monotonic());
    if (first) return {*first, true, Published::kStored};
  }
  std::optional<Sequence> sequence = sequences_.take();
  if (server_.stopped() || !sequence) return not_accepted(refuse());
  if (sequences_.low(limits::kBusSequenceBlock / 2) && !reserving_) {
    reserving_ = true;
    server_.spawn(reserve_sequences());
  }

  matched_.clear();
  interest_.match(message.subject, matched_);
  auto envelope = std::make_shared<Envelope>();
  envelope->subject = std::move(message.subject);
  envelope->payload = std::move(message.payload);
  envelope->id = std::move(message.id);
  envelope->sequence = *sequence;
  envelope->stored_at = clock_.wall();
  envelope->extras = std::move(message.extras);
  envelope->origin = message.origin;
  if (durable) return {*sequence, false, publish_durable(std::move(envelope))};
  return {*sequence, false, publish_plain(std::move(envelope))};
}

Future<Result<Published>> LocalBus::publish_plain(std::shared_ptr<Envelope> envelope) {
  envelope->plain = true;
  // What a deaf member leaves behind is dropped without a word, so its origin is not kept waiting.
  if (envelope->id.empty() || envelope->origin != 0) {
    return offer_to_listeners(envelope) > 0 ? Published::kStored : refuse();
  }
  envelope->groups = offer_to_listeners(envelope);
  if (envelope->groups == 0) return refuse();
  return envelope->answer.emplace().future();
}

Future<Result<Published>> LocalBus::publish_durable(std::shared_ptr<Envelope> envelope) {
  const std::string& subject = envelope->subject;
  if (always_consumes(subject, kSchedulerQueue) && !interest_.find(subject, kSchedulerQueue)) {
    matched_.push_back(group_of(subject, kSchedulerQueue));
  }
  auto consumes = [&](const GroupPtr& group) {
    return group->durable() && (group->has_members() || always_consumes(subject, group->queue()));
  };
  for (const GroupPtr& group : matched_) {
    if (consumes(group) && !group->has_room(envelope->payload.size())) return refuse();
  }
  offer_to_listeners(envelope);
  envelope->groups = static_cast<size_t>(std::ranges::count_if(matched_, consumes));
  if (envelope->groups == 0) return Published::kStored;

  Future<Result<Published>> answer = envelope->answer.emplace().future();
  for (const GroupPtr& group : matched_) {
    if (consumes(group)) admit(group, envelope);
  }
  return answer;
}

// Gives the message to those who do not consume it: to one group of each queue name, and to all
// that have none. How many took it.
size_t LocalBus::offer_to_listeners(const std::shared_ptr<Envelope>& envelope) {
  size_t taken = 0;
  for (size_t i = 0; i < matched_.size(); ++i) {
    const GroupPtr& group = matched_[i];
    if (group->durable() || !group->has_room(envelope->payload.size()) ||
        !group->wants(envelope->origin)) {
      continue;
    }
    auto same_queue = [&](const GroupPtr& other) {
      return !other->durable() && other->queue() == group->queue() &&
             other->wants(envelope->origin);
    };
    auto before = std::span(matched_).first(i);
    if (!group->queue().empty() && std::ranges::any_of(before, same_queue)) continue;
    admit(group, envelope);
    ++taken;
  }
  return taken;
}

void LocalBus::admit(const GroupPtr& group, std::shared_ptr<Envelope> envelope) {
  group->admit({.envelope = std::move(envelope)});
  server_.make_ready(group);
}

Published LocalBus::refuse() {
  ++counters_.refused;
  return Published::kRefused;
}

Future<Result<std::optional<bool>>> LocalBus::stored(std::string, std::string) {
  return std::optional<bool>{};
}

// --- Subscribing ---------------------------------------------------------------------------------

Result<std::unique_ptr<Subscription>> LocalBus::subscribe(std::string subject,
                                                          SubscribeOptions options,
                                                          Handler handler) {
  if (auto valid = validate_pattern(subject); !valid) return std::unexpected(valid.error());
  if (server_.stopped()) return fail(ErrorCode::kUnavailable, "the bus has stopped");
  check(options.in_flight_max > 0, "a subscription runs at least one handler");
  GroupPtr group = group_of(subject, options.queue, options.consumes);
  auto member = std::make_shared<Member>(std::move(options), std::move(handler));
  group->join(member);
  server_.make_ready(group);
  return std::make_unique<LocalSubscription>(self_, std::move(group), std::move(member));
}

// The group of a queue; a new one for every subscription without a queue.
LocalBus::GroupPtr LocalBus::group_of(std::string_view pattern, std::string_view queue,
                                      bool consumes) {
  GroupPtr group = queue.empty() ? nullptr : interest_.find(pattern, queue, consumes);
  if (!group) {
    group = std::make_shared<Group>(std::string(pattern), std::string(queue), consumes);
    interest_.add(group);
  }
  return group;
}

void LocalBus::leave(const GroupPtr& group, const std::shared_ptr<Member>& member) {
  group->leave(member);
  if (!group->durable() && !group->has_members()) interest_.remove(group);
  server_.make_ready(group);
}

// --- Turns ---------------------------------------------------------------------------------------

// Publishers run in here; one of them may end the bus.
void LocalBus::begin_turn() {
  std::weak_ptr<LocalBus*> self = self_;
  std::vector<Answer> answers = std::exchange(answers_, {});
  forget_answered();
  for (Answer& answer : answers) {
    answer.publisher.complete(answer.value);
    if (self.expired()) return;
  }
}

// Nobody will handle what waits: the store takes it, or nobody does.
void LocalBus::put_away(const GroupPtr& group) {
  for (const Entry& entry : group->park()) {
    if (group->durable() && server_.spawn(keep(group, entry, {}))) continue;
    if (group->durable() || entry.envelope->plain) settle(*entry.envelope, Published::kRefused);
    group->discharge(entry);
  }
  if (group->held() == 0 && !group->has_members()) interest_.remove(group);
}

// --- Handling ------------------------------------------------------------------------------------

std::optional<Task<void>> LocalBus::answer(GroupPtr group, const Group::Start& start,
                                           const Verdict& verdict) {
  Entry entry = group->release(start);
  if (group->waiting() > 0) server_.make_ready(group);
  if (!group->durable()) {
    heard(*entry.envelope, verdict);
    group->discharge(entry);
    return std::nullopt;
  }
  switch (verdict.kind) {
    case Verdict::Kind::kAck:
      ++counters_.acked;
      end(group, entry);
      break;
    case Verdict::Kind::kTerminate:
      ++counters_.terminated;
      end(group, entry);
      break;
    case Verdict::Kind::kNak:
      ++counters_.naked;
      entry.forgiven += verdict.blameless;
      if (!entry.stored) return keep(std::move(group), std::move(entry), verdict.delay);
      redeliver_after(verdict.delay, std::move(group), std::move(entry));
      break;
  }
  return std::nullopt;
}

// Writes a message to the store for its group; its publisher is answered by how that went.
Task<void> LocalBus::keep(GroupPtr group, Entry entry, Duration delay) {
  const Envelope& envelope = *entry.envelope;
  Result<Sequence> stored = co_await store_.enqueue(
      {envelope.subject, envelope.payload, envelope.id, group->queue()}, envelope.stored_at);
  if (!stored) {
    const ErrorCode code = stored.error().code;
    const bool doubtful = code == ErrorCode::kUnknown || code == ErrorCode::kCancelled;
    settle(*entry.envelope, doubtful ? Published::kUnknown : Published::kRefused);
    group->discharge(entry);
    co_return;
  }
  ++counters_.queued;
  settle(*entry.envelope, Published::kStored);
  entry.stored = *stored;
  redeliver_after(delay, std::move(group), std::move(entry));
}

void LocalBus::redeliver_after(Duration delay, GroupPtr group, Entry entry) {
  auto redeliver = [self = std::weak_ptr(self_), group = std::move(group),
                    entry = std::move(entry)]() mutable {
    auto bus = self.lock();
    if (!bus) return;
    group->put_back(std::move(entry));
    (*bus)->server_.make_ready(group);
  };
  loop_.call_at(loop_.now() + delay, std::move(redeliver));
}

// The group has done with the message.
void LocalBus::end(const GroupPtr& group, const Entry& entry) {
  if (entry.stored) {
    answered_.push_back(*entry.stored);
    server_.post_turn();
  } else {
    settle(*entry.envelope, Published::kStored);
  }
  group->discharge(entry);
}

// Who consumes nothing has no say in what becomes of a durable message.
void LocalBus::heard(Envelope& envelope, const Verdict& verdict) {
  if (!envelope.plain) return;
  settle(envelope, verdict.kind == Verdict::Kind::kAck ? Published::kStored : Published::kUnknown);
}

// What became of the message in one group; the last one answers the publisher.
void LocalBus::settle(Envelope& envelope, Published outcome) {
  if (!envelope.answer) return;
  if (outcome == Published::kUnknown) envelope.doubtful = true;
  if (outcome == Published::kRefused) ++envelope.groups_refused;
  ++envelope.groups_settled;
  if (envelope.groups_settled < envelope.groups) return;

  Published value = Published::kStored;
  if (envelope.doubtful || envelope.groups_refused > 0) value = Published::kUnknown;
  if (envelope.groups_refused == envelope.groups) value = refuse();
  if (value == Published::kStored && !envelope.id.empty() && !envelope.plain) {
    duplicates_[envelope.subject].remember(envelope.id, envelope.sequence, clock_.monotonic());
  }
  answers_.push_back({*std::exchange(envelope.answer, {}), value});
  server_.post_turn();
}

Task<void> LocalBus::reserve_sequences() {
  while (true) {
    Result<Sequence> first = co_await store_.reserve_sequences(limits::kBusSequenceBlock);
    if (first) {
      sequences_.add(*first, limits::kBusSequenceBlock);
      break;
    }
    if (!co_await loop_.delay(limits::kRetryStore)) break;
  }
  reserving_ = false;
}

void LocalBus::forget_answered() {
  if (answered_.empty()) return;
  std::vector<Sequence> messages = std::exchange(answered_, {});
  if (server_.stopped()) {
    (void)store_.forget(std::move(messages));
  } else {
    server_.spawn(forget(std::move(messages)));
  }
}

// Messages that the store still has are delivered again in the next life.
Task<void> LocalBus::forget(std::vector<Sequence> messages) {
  while (!co_await store_.forget(messages)) {
    if (!co_await loop_.delay(limits::kRetryStore)) co_return;
  }
}

// --- Ending --------------------------------------------------------------------------------------

void LocalBus::cancel() {
  server_.cancel();
}

void LocalBus::drop() {
  self_.reset();
  server_.drop();
  interest_ = {};
  matched_.clear();
  answers_.clear();
}

}  // namespace fairlead::bus
