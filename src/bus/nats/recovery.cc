#include "bus/nats/recovery.h"

#include <algorithm>

#include <fmt/format.h>

#include <boost/json.hpp>

#include "base/limits.h"

namespace fairlead::bus::nats {

Task<Result<Recovered>> Recovery::run(Duration delivered_for) {
  Recovered total;
  Result<State> state = co_await ask();
  if (!state) co_return std::unexpected(state.error());
  notice(*state);
  const MonotonicTime now = loop_.now();
  marks_.push_back({now, state->delivered});
  const uint64_t last = delivered_by(now - delivered_for);

  while (true) {
    read_to_ = std::max(read_to_, state->ack_floor);
    if (read_to_ >= last) break;
    for (size_t count = 0; count < limits::kRecoveryBatch && read_to_ < last; ++count) {
      Result<std::optional<StoredMessage>> message = co_await next_from(read_to_ + 1);
      if (!message) co_return std::unexpected(message.error());
      if (!*message || (*message)->sequence.value() > last) {
        read_to_ = last;
        break;
      }
      read_to_ = (*message)->sequence.value();
      take(**std::move(message), *state, total);
    }
    // The floor rises as messages are answered, and who reads faster than it handles waits.
    while (consumer_.group()->waiting() > limits::kRecoveryBatch) {
      if (!co_await loop_.delay(limits::kRecoveryPause)) {
        co_return fail(ErrorCode::kCancelled, "the task was told to stop");
      }
    }
    state = co_await ask();
    if (!state) co_return std::unexpected(state.error());
  }
  co_return total;
}

Task<Result<Recovery::State>> Recovery::ask() {
  const std::string question =
      fmt::format("CONSUMER.INFO.{}.{}", consumer_.stream(), consumer_.name());
  Result<ApiAnswer> info = co_await api_.call(question);
  if (!info) co_return std::unexpected(info.error());
  if (info->error) co_return fail(ErrorCode::kUnavailable, info->error->description);
  co_return State{number_at(info->body, "ack_floor.stream_seq"),
                  number_at(info->body, "delivered.stream_seq"),
                  number_at(info->body, "delivered.consumer_seq"),
                  read_time(text_at(info->body, "created")).value_or(WallTime{})};
}

void Recovery::notice(const State& state) {
  const bool another = std::chrono::abs(state.created - created_) > Consumer::kSameCreation;
  const bool lost = !marks_.empty() && state.delivered < marks_.back().delivered;
  created_ = state.created;
  if (!another && !lost) return;
  read_to_ = 0;
  marks_.clear();
}

uint64_t Recovery::delivered_by(MonotonicTime then) {
  uint64_t delivered = 0;
  while (!marks_.empty() && marks_.front().at <= then) {
    delivered = marks_.front().delivered;
    if (marks_.size() > 1 && marks_[1].at <= then) {
      marks_.pop_front();
    } else {
      break;
    }
  }
  return delivered;
}

Task<Result<std::optional<StoredMessage>>> Recovery::next_from(uint64_t sequence) {
  const boost::json::object question{{"seq", sequence}, {"next_by_subj", consumer_.subject()}};
  Result<ApiAnswer> answer = co_await api_.call("STREAM.MSG.GET." + consumer_.stream(), question);
  if (!answer) co_return std::unexpected(answer.error());
  if (answer->failed_with(ApiError::kNoMessage)) co_return std::optional<StoredMessage>{};
  if (answer->error) co_return fail(ErrorCode::kUnavailable, answer->error->description);
  std::optional<StoredMessage> message = read_stored_message(answer->body);
  if (!message) co_return fail(ErrorCode::kCorrupt, "a message of the stream is not readable");
  co_return message;
}

void Recovery::take(StoredMessage message, const State& state, Recovered& total) {
  ++total.read;
  switch (consumer_.knows(message.sequence, message.stored_at)) {
    case Consumer::Knowledge::kInHands:
    case Consumer::Knowledge::kGivenBack:
      return;
    case Consumer::Knowledge::kAnswered:
      ++total.said_again;
      return consumer_.answer_again(message.sequence);
    case Consumer::Knowledge::kNothing:
      ++total.recovered;
      return consumer_.recovered(std::move(message), state.deliveries);
  }
}

}  // namespace fairlead::bus::nats
