#include "bus/nats/consumer.h"

#include <algorithm>
#include <vector>

#include <fmt/format.h>

#include <boost/json.hpp>

#include "base/limits.h"
#include "bus/nats/topology.h"

namespace fairlead::bus::nats {

namespace {

constexpr std::string_view kAck = "+ACK";
constexpr std::string_view kTerminate = "+TERM";
constexpr std::string_view kInProgress = "+WPI";

}  // namespace

Consumer::Consumer(Plugs plugs, std::string subject, std::string queue, std::string deliver_subject)
    : plugs_(plugs),
      stream_(stream_of(subject)),
      name_(durable_name(queue, subject)),
      own_deliver_subject_(std::move(deliver_subject)),
      group_(std::make_shared<Group>(std::move(subject), std::move(queue), Group::Kept::kAll)),
      self_(std::make_shared<Consumer*>(this)) {}

Consumer::~Consumer() {
  if (watch_timer_) plugs_.loop.cancel(*watch_timer_);
}

// --- On the server -------------------------------------------------------------------------------

Task<Result<void>> Consumer::bind() {
  const std::string info = fmt::format("CONSUMER.INFO.{}.{}", stream_, name_);
  // Twice: another replica may make it between our two questions.
  for (int tries = 0; tries < 2; ++tries) {
    Result<ApiAnswer> found = co_await plugs_.api.call(info);
    if (!found) co_return std::unexpected(found.error());
    if (!found->error) co_return take_over(found->body);
    if (!found->failed_with(ApiError::kConsumerNotFound)) {
      co_return fail(ErrorCode::kUnavailable, name_ + ": " + found->error->description);
    }
    const std::string create =
        fmt::format("CONSUMER.CREATE.{}.{}.{}", stream_, name_, group_->pattern());
    const boost::json::object question{
        {"stream_name", stream_},
        {"config", consumer_config(group_->pattern(), group_->queue(), own_deliver_subject_,
                                   plugs_.settings)}};
    Result<ApiAnswer> made = co_await plugs_.api.call(create, question);
    if (!made) co_return std::unexpected(made.error());
    if (!made->error) {
      plugs_.log.info("consumer created", {{"stream", stream_}, {"consumer", name_}});
      co_return take_over(made->body);
    }
    if (!made->failed_with(ApiError::kConsumerExists)) {
      co_return fail(ErrorCode::kUnavailable, name_ + ": " + made->error->description);
    }
  }
  co_return fail(ErrorCode::kUnavailable, name_ + ": it comes and goes");
}

Result<void> Consumer::take_over(const boost::json::object& info) {
  const boost::json::value* config = info.if_contains("config");
  if (!config || !config->is_object()) {
    return fail(ErrorCode::kCorrupt, name_ + ": JetStream says nothing about its settings");
  }
  if (auto accepted = accept_consumer(group_->pattern(), group_->queue(), config->get_object(),
                                      plugs_.settings);
      !accepted) {
    return accepted;
  }
  const WallTime created = read_time(text_at(info, "created")).value_or(WallTime{});
  if (created > created_ + kSameCreation) {
    given_back_.clear();
    answered_.clear();
    answered_order_.clear();
  }
  created_ = created;
  std::string deliver_subject = text_at(config->get_object(), "deliver_subject");
  if (deliver_subject == deliver_subject_) return {};
  deliver_subject_ = std::move(deliver_subject);
  if (!listens()) return {};
  ignore();
  listen();
  return {};
}

void Consumer::listen() {
  check(bound(), "where a consumer delivers to is known before it is listened to");
  if (listens()) return;
  listener_ = plugs_.link.listen(deliver_subject_, group_->queue(), Link::Care::kKeepAll);
  watch();
}

void Consumer::ignore() {
  if (listens()) plugs_.link.ignore(std::exchange(listener_, 0));
}

// With its time, since a stream that lost its end gives the same numbers again.
std::string Consumer::mark_of(Sequence sequence, WallTime stored_at) const {
  return fmt::format("{}:{}:{}:{}", name_, stream_, sequence.value(), to_micros(stored_at));
}

std::string Consumer::ack_subject(Sequence sequence, uint64_t delivery) const {
  return fmt::format("$JS.ACK.{}.{}.1.{}.{}.0.0", stream_, name_, sequence.value(), delivery);
}

// --- Messages come -------------------------------------------------------------------------------

void Consumer::arrived(Arrival arrival) {
  std::optional<DeliveryPlace> place = read_delivery_place(arrival.reply);
  if (!place) return;  // a sign of life of the server, or somebody's noise
  const uint64_t number = place->sequence.value();
  given_back_.erase(number);
  switch (knows(place->sequence, place->stored_at)) {
    case Knowledge::kInHands:
      ++counters_.repeated;
      in_hands_[number] = {place->stored_at, std::move(arrival.reply), plugs_.loop.now()};
      return;
    case Knowledge::kAnswered:
      ++counters_.repeated;
      answer_again(place->sequence);
      return;
    case Knowledge::kGivenBack:
    case Knowledge::kNothing:
      break;
  }
  admit({place->sequence, std::move(arrival.subject), std::move(arrival.payload),
         std::move(arrival.headers), place->stored_at},
        std::move(arrival.reply), place->deliveries - 1);
}

void Consumer::recovered(StoredMessage message, uint64_t delivered) {
  ++counters_.recovered;
  given_back_.erase(message.sequence.value());
  std::string subject = ack_subject(message.sequence, delivered);
  // How often it was delivered is not known; this is not the first time.
  admit(std::move(message), std::move(subject), 1);
}

void Consumer::admit(StoredMessage message, std::string ack_subject, uint32_t deliveries_before) {
  in_hands_[message.sequence.value()] = {message.stored_at, std::move(ack_subject),
                                         plugs_.loop.now()};
  auto envelope = std::make_shared<Envelope>();
  envelope->subject = std::move(message.subject);
  envelope->payload = std::move(message.payload);
  envelope->sequence = message.sequence;
  envelope->stored_at = message.stored_at;
  envelope->mark = mark_of(message.sequence, message.stored_at);
  if (!message.headers.empty()) {
    envelope->extras = std::make_shared<Extras>("", std::move(message.headers));
  }
  group_->admit({.envelope = std::move(envelope), .deliveries = deliveries_before});
  plugs_.server.make_ready(group_);
}

Consumer::Knowledge Consumer::knows(Sequence sequence, WallTime stored_at) const {
  auto find = [&](const auto& messages) {
    auto found = messages.find(sequence.value());
    return found != messages.end() && found->second.stored_at == stored_at ? &found->second
                                                                           : nullptr;
  };
  if (find(in_hands_)) return Knowledge::kInHands;
  // One that is due is somebody else's.
  const GivenBack* given_back = find(given_back_);
  if (given_back && given_back->due >= plugs_.loop.now()) return Knowledge::kGivenBack;
  return find(answered_) ? Knowledge::kAnswered : Knowledge::kNothing;
}

// --- Messages go ---------------------------------------------------------------------------------

void Consumer::answer(Entry entry, const Verdict& verdict) {
  switch (verdict.kind) {
    case Verdict::Kind::kAck:
      ++counters_.acked;
      return settle(entry, true);
    case Verdict::Kind::kTerminate:
      ++counters_.terminated;
      return settle(entry, false);
    case Verdict::Kind::kNak:
      break;
  }
  entry.forgiven += verdict.blameless;
  const bool last_chance = entry.deliveries >= limits::kDeliveriesMax;
  const bool stays = verdict.blameless || last_chance || !plugs_.link.connected();
  if (stays && !plugs_.server.stopped()) return keep(std::move(entry), verdict.delay);
  nak(entry, verdict.delay);
}

void Consumer::give_back(const Entry& entry) {
  nak(entry, Duration(0));
}

void Consumer::settle(const Entry& entry, bool acked) {
  group_->discharge(entry);
  std::optional<InHands> held = let_go(entry);
  if (!held) return;
  remember(entry.envelope->sequence.value(), {held->stored_at, acked});
  (void)say(held->ack_subject, acked ? kAck : kTerminate);
}

void Consumer::remember(uint64_t number, Answered answer) {
  if (answered_.insert_or_assign(number, answer).second) answered_order_.push_back(number);
  if (answered_order_.size() <= limits::kAnsweredRemembered) return;
  answered_.erase(answered_order_.front());
  answered_order_.pop_front();
}

void Consumer::answered_elsewhere(Sequence sequence, WallTime stored_at) {
  remember(sequence.value(), {stored_at, true});
  answer_again(sequence);
}

std::optional<Consumer::InHands> Consumer::let_go(const Entry& entry) {
  auto found = in_hands_.find(entry.envelope->sequence.value());
  if (found == in_hands_.end() || found->second.stored_at != entry.envelope->stored_at) {
    return std::nullopt;
  }
  InHands held = std::move(found->second);
  in_hands_.erase(found);
  return held;
}

void Consumer::answer_again(Sequence sequence) {
  (void)say(ack_subject(sequence), answered_.at(sequence.value()).acked ? kAck : kTerminate);
}

void Consumer::nak(const Entry& entry, Duration delay) {
  ++counters_.naked;
  group_->discharge(entry);
  std::optional<InHands> held = let_go(entry);
  if (!held) return;
  // The server would drop it for good; it is left to be recovered.
  if (entry.deliveries - entry.forgiven >= limits::kDeliveriesMax) return;
  const auto nanos = std::chrono::duration_cast<std::chrono::nanoseconds>(delay).count();
  const std::string what =
      nanos > 0 ? fmt::format("{} {{\"delay\": {}}}", kNak, nanos) : std::string(kNak);
  if (!say(held->ack_subject, what)) return;
  given_back_[entry.envelope->sequence.value()] = {held->stored_at, plugs_.loop.now() + delay};
}

// The message waits in our hands and is then handled again.
void Consumer::keep(Entry entry, Duration delay) {
  ++counters_.kept;
  plugs_.loop.call_at(plugs_.loop.now() + delay,
                      [self = std::weak_ptr(self_), entry = std::move(entry)]() mutable {
                        auto consumer = self.lock();
                        if (!consumer) return;
                        Consumer& here = **consumer;
                        here.group_->put_back(std::move(entry));
                        here.plugs_.server.make_ready(here.group_);
                      });
}

bool Consumer::say(std::string_view ack_subject, std::string_view what) {
  return plugs_.link.send({ack_subject, what}) == Sending::kSent;
}

Task<void> Consumer::connected() {
  // What the last connection was told may be lost, and then it comes after AckWait only.
  given_back_.clear();
  if (answered_order_.empty()) co_return;
  // A server that crashed may have lost the stream's end: while the last of the messages is there,
  // so are those before it.
  const auto older =
      answered_order_.size() - std::min(answered_order_.size(), limits::kAnswersSaidAgain);
  const std::vector<uint64_t> latest(answered_order_.begin() + static_cast<ptrdiff_t>(older),
                                     answered_order_.end());
  const uint64_t last = *std::ranges::max_element(latest);
  Result<ApiAnswer> answer =
      co_await plugs_.api.call("STREAM.MSG.GET." + stream_, boost::json::object{{"seq", last}});
  if (!answer || answer->error) co_return;
  std::optional<StoredMessage> message = read_stored_message(answer->body);
  if (!message || knows(message->sequence, message->stored_at) != Knowledge::kAnswered) co_return;
  for (uint64_t number : latest) {
    if (answered_.contains(number)) answer_again(Sequence(number));
  }
}

// --- While they are here -------------------------------------------------------------------------

void Consumer::watch() {
  if (watch_timer_ || !listens()) return;
  const Duration every = plugs_.settings.ack_wait / limits::kProgressTellingsPerAckWait;
  watch_timer_ = plugs_.loop.call_at(plugs_.loop.now() + every, [this] {
    watch_timer_.reset();
    tell_progress();
    forget_given_back();
    watch();
  });
}

void Consumer::tell_progress() {
  const MonotonicTime now = plugs_.loop.now();
  const Duration every = plugs_.settings.ack_wait / limits::kProgressTellingsPerAckWait;
  for (auto& [number, held] : in_hands_) {
    if (now - held.told < every) continue;
    if (say(held.ack_subject, kInProgress)) held.told = now;
  }
}

// What is long due went to another replica.
void Consumer::forget_given_back() {
  const MonotonicTime now = plugs_.loop.now();
  std::erase_if(given_back_, [&](const auto& each) { return each.second.due < now; });
}

}  // namespace fairlead::bus::nats
