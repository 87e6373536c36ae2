#include "sim/sim_bus.h"

#include <algorithm>
#include <memory>
#include <utility>
#include <vector>

#include <fmt/core.h>

namespace fairlead::sim {

namespace {

using namespace std::chrono_literals;

constexpr Duration kSimulatedAckWait = 20s;

class EndedSubscription final : public bus::Subscription {
 public:
  explicit EndedSubscription(std::function<void()> end) : end_(std::move(end)) {}
  ~EndedSubscription() override { end_(); }

 private:
  std::function<void()> end_;
};

bool is_dispatch(std::string_view subject) {
  return subject.starts_with("worker.") && subject.ends_with(".jobs");
}

}  // namespace

BusEndpoint::BusEndpoint(SimBus& broker, std::weak_ptr<Process> process,
                         std::function<void()> crash)
    : broker_(broker),
      connection_(++broker.connected_),
      made_(broker.world_.loop.now()),
      process_(std::move(process)),
      crash_(std::move(crash)) {
  broker_.endpoints_[connection_] = this;
}

BusEndpoint::~BusEndpoint() {
  broker_.endpoints_.erase(connection_);
}

Future<Result<bus::Published>> BusEndpoint::publish(std::string subject, std::string payload,
                                                    std::string id) {
  WorldPlugs& world = broker_.world_;
  bool dispatch = is_dispatch(subject);
  if (dispatch) broker_.on_dispatch(subject, payload);
  auto arrive = [&] {
    if (!dispatch) return broker_.publish(subject, std::move(payload), id);
    if (world.options.stream) broker_.stream_[id] = world.loop.now();
    broker_.to_worker(subject, payload);
  };
  if (world.strikes(world.options.bus_crash,
                    dispatch ? "crash at a dispatch" : "crash at another publish")) {
    if (world.random.chance(2) && !broker_.is_away()) arrive();
    crash_();
    return Completer<Result<bus::Published>>().future();
  }
  const Fate fate = draw_fate(subject);
  if (fate.arrives) arrive();
  auto completer = std::make_shared<Completer<Result<bus::Published>>>();
  Future<Result<bus::Published>> future = completer->future();
  world.loop.call_at(world.loop.now() + world.delay(world.options.bus_delay_max),
                     [process = process_, completer, answer = fate.answer] {
                       Process::run(process, [completer, answer] { completer->complete(answer); });
                     });
  return future;
}

BusEndpoint::Fate BusEndpoint::draw_fate(const std::string& subject) {
  WorldPlugs& world = broker_.world_;
  if (broker_.is_away()) {
    return {world.random.chance(2) ? bus::Published::kRefused : bus::Published::kUnknown, false};
  }
  if (world.strikes(world.options.bus_refuse, "publish refused")) {
    return {bus::Published::kRefused, false};
  }
  Fate fate;
  if (world.strikes(world.options.bus_unknown, "publish answer lost")) {
    fate = {bus::Published::kUnknown, world.random.chance(2)};
  }
  bool nobody_listens =
      is_dispatch(subject) && !world.options.stream && !broker_.workers_.contains(subject);
  if (fate.arrives && nobody_listens) return {bus::Published::kRefused, false};
  return fate;
}

std::optional<MonotonicTime> BusEndpoint::listening_since() const {
  if (broker_.is_away()) return std::nullopt;
  return std::max(made_, broker_.back_at());
}

Future<Result<std::optional<bool>>> BusEndpoint::stored(std::string, std::string id) {
  if (broker_.is_away()) return fail(ErrorCode::kUnavailable, "simulated: the bus is away");
  std::optional<bool> known;
  if (broker_.world_.options.stream) known = broker_.stream_.contains(id);
  return known;
}

Result<std::unique_ptr<bus::Subscription>> BusEndpoint::subscribe(std::string subject,
                                                                  bus::SubscribeOptions options,
                                                                  bus::Handler handler) {
  uint64_t id = ++subscribed_;
  listeners_[id] = {std::move(subject), std::move(options), std::move(handler), {}};
  return std::make_unique<EndedSubscription>([this, id] { listeners_.erase(id); });
}

Task<void> BusEndpoint::handle(uint64_t id, bus::Delivery delivery, uint64_t message,
                               uint64_t attempt) {
  auto listener = listeners_.find(id);
  if (listener == listeners_.end()) co_return;
  std::string key;
  if (listener->second.options.key) key = listener->second.options.key(delivery.payload);
  if (!key.empty() && !listener->second.busy.insert(key).second) {
    broker_.answered(message, attempt, bus::Verdict::nak(20ms, "one at a time"));
    co_return;
  }
  bus::Handler handler = listener->second.handler;
  bus::Verdict verdict = co_await handler(std::move(delivery));
  if (auto still = listeners_.find(id); still != listeners_.end()) still->second.busy.erase(key);
  if (message != 0) broker_.answered(message, attempt, verdict);
}

void SimBus::go_away(Duration time) {
  away_ = true;
  back_at_ = std::max(back_at_, world_.loop.now() + time);
  world_.loop.call_at(back_at_, [this] {
    if (world_.loop.now() >= back_at_) come_back();
  });
}

void SimBus::come_back() {
  if (!away_) return;
  away_ = false;
  back_at_ = world_.loop.now();
  for (auto& [id, message] : messages_)
    deliver_after(id, world_.delay(world_.options.bus_delay_max));
  for (auto& [subject, packet] : std::exchange(held_back_, {})) {
    publish(subject, std::move(packet));
  }
}

void SimBus::lose_end_of_stream(Duration time) {
  const MonotonicTime cut = world_.loop.now() - time;
  auto lost = [&](const Message& message) {
    if (message.stored_at <= kWorldBegins + cut.time_since_epoch()) return false;
    sequences_ = std::min(sequences_, message.sequence.value() - 1);
    return true;
  };
  std::erase_if(messages_, [&](const auto& each) {
    if (!lost(each.second)) return false;
    on_lost(each.second.subject, each.second.payload);
    return true;
  });
  for (Acknowledged& forgotten : std::exchange(acknowledged_, {})) {
    if (forgotten.at <= cut || lost(forgotten.message)) continue;
    world_.observer.count_fault("acknowledgement lost");
    messages_[forgotten.id] = std::move(forgotten.message);
    deliver_after(forgotten.id, world_.delay(world_.options.bus_delay_max));
  }
  std::erase_if(stream_, [&](const auto& dispatch) { return dispatch.second > cut; });
  std::erase_if(ids_, [&](const auto& id) { return id.second > cut; });
}

void SimBus::publish(const std::string& subject, std::string payload, const std::string& id) {
  if (is_away()) {
    if (bus::is_durable(subject)) held_back_.emplace_back(subject, std::move(payload));
    return;
  }
  fan_out(subject, payload);
  if (!bus::is_durable(subject) || is_repeat(id)) return;
  if (subject == bus::kDeadLetterSubject) return on_dead_letter(payload);
  store(subject, std::move(payload));
}

bool SimBus::is_repeat(const std::string& id) {
  if (id.empty() || !world_.options.stream) return false;
  auto [known, fresh] = ids_.try_emplace(id, world_.loop.now());
  if (fresh) return false;
  const bool lately = world_.loop.now() - known->second < limits::kDuplicateWindow;
  if (lately) world_.observer.count_fault("repeat not stored");
  if (!lately) known->second = world_.loop.now();
  return lately;
}

void SimBus::store(const std::string& subject, std::string payload) {
  uint64_t id = ++messages_made_;
  messages_[id] = {subject,
                   std::move(payload),
                   Sequence(++sequences_),
                   kWorldBegins + world_.loop.now().time_since_epoch(),
                   0,
                   0};
  deliver_after(id, world_.delay(world_.options.bus_delay_max));
}

// To every listener without a queue, and on a plain subject to one of a queue; each gets its own
// copy in its own time, perhaps two.
void SimBus::fan_out(const std::string& subject, const std::string& payload) {
  for (auto& [connection, endpoint] : endpoints_) {
    for (auto& [id, listener] : endpoint->listeners_) {
      if (listener.subject != subject || !listener.options.queue.empty()) continue;
      send(connection, id, subject, payload);
    }
  }
  if (bus::is_durable(subject)) return;
  uint64_t listener = 0;
  if (BusEndpoint* endpoint = choose(subject, listener)) {
    send(endpoint->connection_, listener, subject, payload);
  }
}

void SimBus::send(uint64_t connection, uint64_t listener, const std::string& subject,
                  const std::string& payload) {
  int copies = world_.strikes(world_.options.bus_duplicate, "plain message duplicated") ? 2 : 1;
  for (int copy = 0; copy < copies; ++copy) {
    world_.loop.call_at(world_.loop.now() + world_.delay(world_.options.bus_delay_max),
                        [this, connection, listener, subject, payload] {
                          auto there = endpoints_.find(connection);
                          if (there == endpoints_.end() || is_away()) return;
                          BusEndpoint* at = there->second;
                          Process::run(at->process_, [at, listener, subject, payload] {
                            bus::Delivery delivery{
                                .subject = subject, .payload = payload, .in_order = false};
                            at->nursery_.spawn(at->handle(listener, std::move(delivery), 0, 0));
                          });
                        });
  }
}

void SimBus::to_worker(const std::string& subject, const std::string& payload) {
  int copies = world_.strikes(world_.options.bus_duplicate, "dispatch duplicated") ? 2 : 1;
  for (int copy = 0; copy < copies; ++copy) {
    world_.loop.call_at(world_.loop.now() + world_.delay(world_.options.bus_delay_max),
                        [this, subject, payload] {
                          auto inbox = workers_.find(subject);
                          if (inbox != workers_.end() && !is_away()) inbox->second(payload);
                        });
  }
}

void SimBus::deliver_after(uint64_t message, Duration delay) {
  uint64_t attempt = ++messages_[message].attempt;
  world_.loop.call_at(world_.loop.now() + delay,
                      [this, message, attempt] { deliver(message, attempt); });
}

BusEndpoint* SimBus::choose(const std::string& subject, uint64_t& listener) {
  std::vector<std::pair<BusEndpoint*, uint64_t>> takers;
  for (auto& [connection, endpoint] : endpoints_) {
    for (auto& [id, candidate] : endpoint->listeners_) {
      if (candidate.subject == subject && !candidate.options.queue.empty()) {
        takers.emplace_back(endpoint, id);
      }
    }
  }
  if (takers.empty()) return nullptr;
  auto& taker = takers[world_.random.below(takers.size())];
  listener = taker.second;
  return taker.first;
}

void SimBus::deliver(uint64_t id, uint64_t attempt) {
  auto found = messages_.find(id);
  if (found == messages_.end() || found->second.attempt != attempt) return;
  if (is_away()) return;  // all go out when it is back
  Message& message = found->second;
  uint64_t listener = 0;
  BusEndpoint* endpoint = choose(message.subject, listener);
  if (!endpoint) return deliver_after(id, endpoints_.empty() ? Duration(10s) : Duration(200ms));

  bus::Delivery delivery{.subject = message.subject,
                         .payload = message.payload,
                         .sequence = message.sequence,
                         .stored_at = message.stored_at,
                         .deliveries = ++message.deliveries};
  if (world_.options.stream) {
    delivery.mark = fmt::format("{}:{}", message.sequence.value(), to_micros(message.stored_at));
  }
  // The ack wait: nobody answered, so it goes out again.
  Duration again = kSimulatedAckWait;
  if (world_.strikes(world_.options.bus_duplicate, "durable message duplicated")) again = 50ms;
  deliver_after(id, again);
  Process::run(
      endpoint->process_, [endpoint, listener, delivery, id, answers = message.attempt]() mutable {
        endpoint->nursery_.spawn(endpoint->handle(listener, std::move(delivery), id, answers));
      });
}

void SimBus::answered(uint64_t id, uint64_t attempt, const bus::Verdict& verdict) {
  auto found = messages_.find(id);
  if (found == messages_.end() || is_away()) return;  // unheard, it goes out again
  if (verdict.kind != bus::Verdict::Kind::kNak) {
    if (found->second.subject == bus::kResultSubject) on_result_answered(found->second.payload);
    if (world_.options.stream_losses > 0) {
      acknowledged_.push_back({world_.loop.now(), id, std::move(found->second)});
    }
    messages_.erase(found);
  } else if (found->second.attempt == attempt) {
    deliver_after(id, verdict.delay);
  }
}

}  // namespace fairlead::sim
