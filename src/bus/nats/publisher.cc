#include "bus/nats/publisher.h"

#include <fmt/format.h>

#include <boost/json.hpp>

#include "base/limits.h"

namespace fairlead::bus::nats {

namespace {

// What a stream answers to a publish.
struct PubAck {
  bool stored = false;
  bool duplicate = false;
  std::string error;
};

PubAck parse_pub_ack(std::string_view text) {
  boost::system::error_code wrong;
  const boost::json::value parsed = boost::json::parse(text, wrong);
  const boost::json::object* object = wrong ? nullptr : parsed.if_object();
  if (!object) return {.error = "the answer to the publish is not readable"};
  if (const auto* error = object->if_contains("error")) return {.error = serialize(*error)};
  const auto* sequence = object->if_contains("seq");
  if (!sequence) return {.error = "the answer to the publish has no sequence"};
  const auto* duplicate = object->if_contains("duplicate");
  return {.stored = true, .duplicate = duplicate && duplicate->is_bool() && duplicate->as_bool()};
}

}  // namespace

Publisher::Publisher(Loop& loop, Link& link, Replies& replies)
    : loop_(loop), link_(link), replies_(replies), self_(std::make_shared<Publisher*>(this)) {}

Future<Result<Published>> Publisher::publish(std::string subject, std::string payload,
                                             std::string id, To to) {
  if (auto valid = validate_subject(subject); !valid) return std::unexpected(valid.error());
  if (payload.size() > limits::kPacketBytesMax) {
    return fail(ErrorCode::kInvalid,
                fmt::format("payload of {} bytes is too large", payload.size()));
  }
  if (!link_.connected() || in_flight_.size() >= limits::kPublishesInFlightMax ||
      bytes_in_flight_ + payload.size() > limits::kPublishBytesInFlightMax) {
    ++counters_.refused;
    return Published::kRefused;
  }
  const uint64_t number = ++last_;
  Message& message =
      in_flight_[number] = {std::move(subject), std::move(payload), std::move(id), to};
  bytes_in_flight_ += message.payload.size();
  Future<Result<Published>> answer = message.answer.future();
  switch (send(number, message)) {
    case Sending::kSent:
      return answer;
    case Sending::kNotConnected:
      settle(number, Published::kRefused);
      return answer;
    case Sending::kTooLarge:
      break;
  }
  settle(number, Published::kRefused);
  return fail(ErrorCode::kInvalid, "the server takes no message as large as this one");
}

Sending Publisher::send(uint64_t number, Message& message) {
  message.reply = replies_.expect([this, number](Reply reply) { take(number, reply); });
  const Sending sent = link_.send({message.subject, message.payload, message.reply, message.id});
  if (sent != Sending::kSent) {
    replies_.forget(message.reply);
  } else if (!message.is_streamed()) {
    fence_later(number);
  }
  return sent;
}

void Publisher::take(uint64_t number, const Reply& reply) {
  auto found = in_flight_.find(number);
  if (found == in_flight_.end()) return;
  if (found->second.is_streamed()) {
    take_from_stream(number, found->second, reply);
    return;
  }
  switch (reply.kind) {
    case Reply::Kind::kAnswer:  // of a listener, or of a stream that listens
      return settle(number, Published::kStored);
    case Reply::Kind::kNoResponders:
      return settle(number,
                    found->second.to == To::kRecord ? Published::kStored : Published::kRefused);
    case Reply::Kind::kNone:
      return settle(number, Published::kUnknown);
  }
}

void Publisher::take_from_stream(uint64_t number, Message& message, const Reply& reply) {
  switch (reply.kind) {
    case Reply::Kind::kAnswer: {
      PubAck ack = parse_pub_ack(reply.message.payload);
      counters_.duplicates += ack.duplicate;
      if (ack.stored) {
        last_refusal_.clear();
        return settle(number, Published::kStored);
      }
      note_refusal(message.subject, ack.error);
      return settle(number, message.to == To::kStream ? Published::kRefused : Published::kUnknown);
    }
    case Reply::Kind::kNoResponders:
      if (message.tries++ >= limits::kNoRespondersRetriesMax) {
        note_refusal(message.subject, "no stream listens to it");
        return settle(number, Published::kRefused);
      }
      ++counters_.retried;
      loop_.call_at(loop_.now() + limits::kNoRespondersRetry,
                    [number, self = std::weak_ptr(self_)] {
                      if (auto publisher = self.lock()) (*publisher)->retry(number);
                    });
      return;
    case Reply::Kind::kNone:
      return settle(number, Published::kUnknown);
  }
}

void Publisher::note_refusal(std::string_view subject, std::string_view why) {
  last_refusal_ = fmt::format("{}: {}", subject, why);
  refused_at_ = loop_.now();
}

std::string Publisher::refusal() const {
  return loop_.now() - refused_at_ < limits::kRefusalRemembered ? last_refusal_ : std::string();
}

void Publisher::retry(uint64_t number) {
  auto found = in_flight_.find(number);
  if (found == in_flight_.end()) return;
  // Nobody had it so far.
  if (send(number, found->second) != Sending::kSent) settle(number, Published::kRefused);
}

void Publisher::settle(uint64_t number, Published outcome) {
  auto entry = in_flight_.extract(number);
  Message& message = entry.mapped();
  bytes_in_flight_ -= message.payload.size();
  switch (outcome) {
    case Published::kStored:
      ++counters_.stored;
      break;
    case Published::kRefused:
      ++counters_.refused;
      break;
    case Published::kUnknown:
      ++counters_.unknown;
      break;
  }
  message.answer.complete(outcome);
}

// --- What is sent to listeners -------------------------------------------------------------------

void Publisher::fence_later(uint64_t number) {
  unfenced_.push_back(number);
  if (unfenced_.size() > 1) return;
  loop_.post([self = std::weak_ptr(self_)] {
    if (auto publisher = self.lock()) (*publisher)->fence();
  });
}

void Publisher::fence() {
  const std::string subject = replies_.expect(
      [this, numbers = std::exchange(unfenced_, {})](Reply reply) { take_fence(numbers, reply); });
  // If there is no connection any more, everybody who waits is told so.
  (void)link_.send({subject, {}});
}

void Publisher::take_fence(const std::vector<uint64_t>& numbers, const Reply& reply) {
  std::weak_ptr<Publisher*> self = self_;
  for (uint64_t number : numbers) {
    auto found = in_flight_.find(number);
    if (found == in_flight_.end()) continue;
    replies_.forget(found->second.reply);
    settle(number, reply.kind == Reply::Kind::kAnswer ? Published::kStored : Published::kUnknown);
    if (self.expired()) return;  // a publisher may end us when it is answered
  }
}

}  // namespace fairlead::bus::nats
