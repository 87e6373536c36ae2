#include "bus/nats/nats_bus.h"

#include <algorithm>

#include <fmt/format.h>

#include <boost/json.hpp>

#include "base/limits.h"
#include "bus/nats/topology.h"

namespace fairlead::bus::nats {

class NatsBus::NatsSubscription final : public Subscription {
 public:
  NatsSubscription(std::weak_ptr<NatsBus*> bus, GroupPtr group, std::shared_ptr<Member> member)
      : bus_(std::move(bus)), group_(std::move(group)), member_(std::move(member)) {}
  ~NatsSubscription() override {
    if (auto bus = bus_.lock()) (*bus)->leave(group_, member_);
  }

 private:
  std::weak_ptr<NatsBus*> bus_;
  GroupPtr group_;
  std::shared_ptr<Member> member_;
};

NatsBus::NatsBus(Plugs plugs, Settings settings)
    : plugs_(plugs),
      settings_(std::move(settings)),
      self_(std::make_shared<NatsBus*>(this)),
      inbox_(fmt::format("_INBOX.{}.", plugs.random.token())),
      replies_(plugs.loop, inbox_ + "r."),
      link_(plugs.loop, settings_, callbacks()),
      api_(link_, replies_),
      publisher_(plugs.loop, link_, replies_),
      lookup_(plugs.loop, api_, "lookup-" + plugs.random.token(), inbox_ + "lookup"),
      monitor_(plugs.loop),
      server_(plugs.loop, *this, counters_) {
  replies_listener_ = link_.listen(replies_.pattern(), "", Link::Care::kKeepAll);
  lookup_listener_ = link_.listen(inbox_ + "lookup", "", Link::Care::kKeepAll);
}

NatsBus::~NatsBus() {
  drop();
}

// --- The connection ------------------------------------------------------------------------------

Link::Callbacks NatsBus::callbacks() {
  return {.arrived = [this](Arrival arrival) { arrived(std::move(arrival)); },
          .connected = [this] { connected_again(); },
          .lost = [this](const std::string& why) { lost(why); },
          .complained =
              [this](const std::string& what) {
                plugs_.log.warning("NATS complains", {{"error", what}});
              },
          .ended = [this](uint64_t listener) { ended(listener); }};
}

Task<Result<void>> NatsBus::start() {
  first_connection_.emplace();
  auto connection = first_connection_->future();
  link_.open();
  if (auto made = co_await connection; !made) co_return made;
  if (settings_.jetstream) {
    if (auto found = co_await find_jetstream(); !found) co_return found;
  }
  if (auto ensured = co_await ensure(); !ensured) co_return ensured;
  co_await ask_durability();
  server_.spawn(look_after());
  co_return Result<void>{};
}

// What the server does not tell stays unknown; that is no reason not to start.
Task<void> NatsBus::ask_durability() {
  if (jetstream_) {
    for (std::string_view stream : {kSystemStream, kJobStream}) {
      Result<ApiAnswer> info = co_await api_.call(fmt::format("STREAM.INFO.{}", stream));
      if (info && !info->error) durability_.streams.push_back(stream_durability(info->body));
    }
  }
  if (!settings_.monitor.empty()) {
    Result<std::string> varz = co_await monitor_.get(settings_.monitor, "/varz");
    boost::system::error_code wrong;
    boost::json::value parsed = varz ? boost::json::parse(*varz, wrong) : boost::json::value();
    if (parsed.is_object()) {
      read_varz(parsed.get_object(), durability_);
    } else {
      plugs_.log.warning("NATS does not tell its settings",
                         {{"error", varz ? "not readable" : varz.error().message}});
    }
  }
  plugs_.log.info(durability_.sentence(), {{"server", link_.server_url()}});
}

void NatsBus::connected_again() {
  ++counters_.connections;
  listening_since_ = plugs_.loop.now();
  plugs_.log.info("connected to NATS", {{"server", link_.server_url()}});
  if (first_connection_) {
    std::exchange(first_connection_, {})->complete({});
  } else {
    look_now();
  }
}

void NatsBus::lost(const std::string& why) {
  listening_since_.reset();
  plugs_.log.warning("no connection to NATS", {{"error", why}});
  std::weak_ptr<NatsBus*> self = self_;
  if (first_connection_) {
    std::exchange(first_connection_, {})->complete(fail(ErrorCode::kUnavailable, why));
    if (self.expired()) return;
  }
  replies_.lost();
}

// Streams and consumers may be taken away by others, or lost with a server.
Task<void> NatsBus::look_after() {
  uint64_t told = counters_.connections;
  while (true) {
    auto woken = next_look_.emplace().future();
    const TimerId timer = plugs_.loop.call_at(plugs_.loop.now() + limits::kConsumerCheckEvery,
                                              [self = std::weak_ptr(self_)] {
                                                if (auto bus = self.lock()) (*bus)->look_now();
                                              });
    if (!co_await woken) co_return;
    plugs_.loop.cancel(timer);
    if (!link_.connected()) continue;
    const uint64_t connection = counters_.connections;
    if (auto ensured = co_await ensure(); !ensured) {
      if (server_.stopped()) co_return;
      not_ensured_ = ensured.error().message;
      plugs_.log.warning("streams and consumers are not as they should be",
                         {{"error", ensured.error().describe()}});
      continue;
    }
    not_ensured_.clear();
    if (told == connection) continue;
    told = connection;
    for (size_t i = 0; i < consumers_.size(); ++i) co_await consumers_[i]->connected();
  }
}

void NatsBus::look_now() {
  if (next_look_) std::exchange(next_look_, {})->complete({});
}

Task<Result<void>> NatsBus::ensure() {
  if (!jetstream_) co_return Result<void>{};
  for (std::string_view stream : {kSystemStream, kJobStream}) {
    if (auto ensured = co_await ensure_stream(stream); !ensured) co_return ensured;
  }
  // More may be added meanwhile.
  for (size_t i = 0; i < consumers_.size(); ++i) {
    if (auto bound = co_await consumers_[i]->bind(); !bound) co_return bound;
  }
  co_return Result<void>{};
}

Task<Result<void>> NatsBus::find_jetstream() {
  Result<ApiAnswer> info = co_await api_.call("INFO");
  if (!info && info.error().code != ErrorCode::kNotFound) co_return std::unexpected(info.error());
  const bool none = !info || info->failed_with(ApiError::kNotEnabled) ||
                    info->failed_with(ApiError::kNotEnabledForAccount);
  if (!none && info->error) {
    co_return fail(ErrorCode::kUnavailable, "JetStream: " + info->error->description);
  }
  jetstream_ = !none;
  if (none) {
    plugs_.log.warning("the server has no JetStream: messages may be lost",
                       {{"server", link_.server_url()}});
  }
  co_return Result<void>{};
}

Task<Result<void>> NatsBus::ensure_stream(std::string_view stream) {
  Result<ApiAnswer> found = co_await api_.call(fmt::format("STREAM.INFO.{}", stream));
  if (found && found->failed_with(ApiError::kStreamNotFound)) {
    const boost::json::object config = stream_config(stream, settings_);
    found = co_await api_.call(fmt::format("STREAM.CREATE.{}", stream), config);
    if (found && !found->error) plugs_.log.info("stream created", {{"stream", stream}});
    if (found && found->failed_with(ApiError::kStreamExists)) {
      found = co_await api_.call(fmt::format("STREAM.INFO.{}", stream));
    }
  }
  if (!found) co_return std::unexpected(found.error());
  if (found->error) {
    co_return fail(ErrorCode::kUnavailable,
                   fmt::format("stream {}: {}", stream, found->error->description));
  }
  const boost::json::value* config = found->body.if_contains("config");
  if (!config || !config->is_object()) {
    co_return fail(ErrorCode::kCorrupt, "JetStream says nothing about the settings of a stream");
  }
  if (stream == kSystemStream) {
    const uint64_t nanos = number_at(config->get_object(), "max_age");
    stream_age_ = nanos == 0
                      ? Duration::max()
                      : std::chrono::duration_cast<Duration>(std::chrono::nanoseconds(nanos));
  }
  co_return accept_stream(stream, config->get_object());
}

std::string NatsBus::problem() const {
  return not_ensured_.empty() ? publisher_.refusal() : not_ensured_;
}

// --- Publishing ----------------------------------------------------------------------------------

Future<Result<Published>> NatsBus::publish(std::string subject, std::string payload,
                                           std::string id) {
  if (server_.stopped()) return Published::kRefused;
  const bool streamed = jetstream_ && is_streamed(subject);
  auto to = Publisher::To::kListeners;
  if (streamed) {
    // Workers of the usual libraries listen to their subjects, and know nothing of streams.
    to = stream_of(subject) == kJobStream ? Publisher::To::kStreamAndListeners
                                          : Publisher::To::kStream;
  } else if (subject == kDeadLetterSubject) {
    to = Publisher::To::kRecord;
  }
  return publisher_.publish(std::move(subject), std::move(payload), streamed ? std::move(id) : "",
                            to);
}

Future<Result<std::optional<bool>>> NatsBus::stored(std::string subject, std::string id) {
  if (!jetstream_ || !is_streamed(subject)) return std::optional<bool>{};
  return lookup_.stored(std::move(subject), std::move(id));
}

// --- Subscribing ---------------------------------------------------------------------------------

Task<Result<void>> NatsBus::bind(std::string subject, std::string queue) {
  if (!jetstream_) co_return Result<void>{};
  check(is_streamed(subject) && !queue.empty(), "durables are queue groups on streamed subjects");
  if (consumer(subject, queue)) co_return Result<void>{};
  std::string deliver_subject = fmt::format("_INBOX.{}", plugs_.random.token());
  auto made = std::make_unique<Consumer>(
      Consumer::Plugs{plugs_.loop, link_, api_, server_, plugs_.log, settings_}, std::move(subject),
      std::move(queue), std::move(deliver_subject));
  if (auto bound = co_await made->bind(); !bound) co_return bound;
  consumers_.push_back(std::move(made));
  co_return Result<void>{};
}

const Consumer* NatsBus::consumer(std::string_view subject, std::string_view queue) const {
  auto found = std::ranges::find_if(consumers_, [&](const auto& each) {
    return each->group()->pattern() == subject && each->group()->queue() == queue;
  });
  return found == consumers_.end() ? nullptr : found->get();
}

Recovery NatsBus::recovery(std::string_view subject, std::string_view queue,
                           AskProcessed processed) {
  const Consumer* found = consumer(subject, queue);
  check(found != nullptr, "what is recovered is bound");
  return Recovery(plugs_.loop, api_, *find_consumer(*found->group()), std::move(processed));
}

Consumer* NatsBus::find_consumer(const Group& group) {
  auto found = std::ranges::find_if(
      consumers_, [&](const auto& each) { return each->group().get() == &group; });
  return found == consumers_.end() ? nullptr : found->get();
}

Result<std::unique_ptr<Subscription>> NatsBus::subscribe(std::string subject,
                                                         SubscribeOptions options,
                                                         Handler handler) {
  if (auto valid = validate_pattern(subject); !valid) return std::unexpected(valid.error());
  if (server_.stopped()) return fail(ErrorCode::kUnavailable, "the bus has stopped");
  check(options.in_flight_max > 0, "a subscription runs at least one handler");
  const bool durable =
      jetstream_ && options.consumes && !options.queue.empty() && is_streamed(subject);
  if (durable && !consumer(subject, options.queue)) {
    return fail(ErrorCode::kInvalid,
                fmt::format("the consumer {} is not bound", durable_name(options.queue, subject)));
  }
  GroupPtr group = durable ? consumer(subject, options.queue)->group() : group_of(subject, options);
  auto member = std::make_shared<Member>(std::move(options), std::move(handler));
  group->join(member);
  server_.make_ready(group);
  if (durable) find_consumer(*group)->listen();
  return std::make_unique<NatsSubscription>(self_, std::move(group), std::move(member));
}

// The group of a queue outside streams; a new one for every subscription without a queue.
NatsBus::GroupPtr NatsBus::group_of(std::string_view subject, const SubscribeOptions& options) {
  for (const auto& [listener, channel] : channels_) {
    if (!options.queue.empty() && channel.group->pattern() == subject &&
        channel.group->queue() == options.queue) {
      return channel.group;
    }
  }
  auto group = std::make_shared<Group>(std::string(subject), options.queue, Group::Kept::kNone);
  const uint64_t listener = link_.listen(std::string(subject), options.queue, Link::Care::kMayDrop);
  channels_[listener] = {group, listener};
  return group;
}

void NatsBus::leave(const GroupPtr& group, const std::shared_ptr<Member>& member) {
  group->leave(member);
  server_.make_ready(group);
  if (group->has_members()) return;
  if (Consumer* consumer = find_consumer(*group)) {
    consumer->ignore();
    return;
  }
  std::erase_if(channels_, [&](const auto& each) {
    if (each.second.group != group) return false;
    if (!each.second.draining) link_.ignore(each.second.listener);
    return true;
  });
}

void NatsBus::ended(uint64_t listener) {
  auto found = channels_.find(listener);
  if (found != channels_.end() && found->second.draining) channels_.erase(found);
}

// --- Messages ------------------------------------------------------------------------------------

void NatsBus::arrived(Arrival arrival) {
  if (arrival.listener == replies_listener_) return replies_.arrived(std::move(arrival));
  if (arrival.listener == lookup_listener_) return lookup_.arrived(arrival);
  if (!self_) return;
  if (auto found = channels_.find(arrival.listener); found != channels_.end()) {
    if (!server_.stopped()) arrived_plain(found->second.group, std::move(arrival));
    return;
  }
  for (const auto& consumer : consumers_) {
    if (consumer->listener() == arrival.listener) return consumer->arrived(std::move(arrival));
  }
  // It came as its subscriber left.
  if (read_delivery_place(arrival.reply)) (void)link_.send({arrival.reply, Consumer::kNak});
}

void NatsBus::arrived_plain(const GroupPtr& group, Arrival arrival) {
  if (!group->has_room(arrival.payload.size())) {
    ++counters_.dropped;
    return;
  }
  auto envelope = std::make_shared<Envelope>();
  envelope->subject = std::move(arrival.subject);
  envelope->payload = std::move(arrival.payload);
  envelope->stored_at = plugs_.clock.wall();
  last_sequence_ = std::max(last_sequence_.next(),
                            Sequence(static_cast<uint64_t>(to_micros(envelope->stored_at))));
  envelope->sequence = last_sequence_;
  envelope->in_order = false;
  if (!arrival.reply.empty() || !arrival.headers.empty()) {
    envelope->extras =
        std::make_shared<Extras>(std::move(arrival.reply), std::move(arrival.headers));
  }
  group->admit({.envelope = std::move(envelope)});
  server_.make_ready(group);
}

// Nobody here will handle what waits.
void NatsBus::put_away(const GroupPtr& group) {
  Consumer* consumer = find_consumer(*group);
  for (const Entry& entry : group->park()) {
    if (consumer) {
      consumer->give_back(entry);
    } else {
      group->discharge(entry);
    }
  }
}

std::optional<Task<void>> NatsBus::answer(GroupPtr group, const Group::Start& start,
                                          const Verdict& verdict) {
  Entry entry = group->release(start);
  if (group->waiting() > 0) server_.make_ready(group);
  if (Consumer* consumer = find_consumer(*group)) {
    consumer->answer(std::move(entry), verdict);
  } else if (verdict.blameless && !group->queue().empty() && group->has_room(0)) {
    keep(std::move(group), std::move(entry), verdict.delay);
  } else {
    group->discharge(entry);
  }
  return std::nullopt;
}

// Nobody else has it.
void NatsBus::keep(GroupPtr group, Entry entry, Duration delay) {
  plugs_.loop.call_at(plugs_.loop.now() + delay,
                      [self = std::weak_ptr(self_), group, entry = std::move(entry)]() mutable {
                        auto bus = self.lock();
                        if (!bus) return;
                        group->put_back(std::move(entry));
                        (*bus)->server_.make_ready(group);
                      });
}

// --- Ending --------------------------------------------------------------------------------------

Task<void> NatsBus::drain(Duration patience) {
  for (const auto& consumer : consumers_) consumer->ignore();
  for (auto& [listener, channel] : channels_) {
    if (channel.group->queue().empty()) continue;
    channel.draining = true;
    draining_.push_back(channel.group);
    link_.ignore(listener);
  }
  const MonotonicTime until = plugs_.loop.now() + patience;
  while (has_work() && plugs_.loop.now() < until) {
    if (!co_await plugs_.loop.delay(limits::kNatsDrainPoll)) co_return;
  }
}

bool NatsBus::has_work() const {
  auto holds = [](const GroupPtr& group) { return group->has_members() && group->held() > 0; };
  return std::ranges::any_of(channels_, [&](const auto& each) { return each.second.draining; }) ||
         std::ranges::any_of(draining_, holds) ||
         std::ranges::any_of(consumers_, [&](const auto& each) { return holds(each->group()); });
}

void NatsBus::cancel() {
  for (const auto& consumer : consumers_) {
    consumer->ignore();
    server_.make_ready(consumer->group());
  }
  server_.cancel();
}

void NatsBus::drop() {
  self_.reset();
  server_.drop();
  for (const auto& consumer : consumers_) consumer->ignore();
}

}  // namespace fairlead::bus::nats
