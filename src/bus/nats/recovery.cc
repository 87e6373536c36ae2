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
    auto messages = co_await read_on(last, total);
    if (!messages) co_return std::unexpected(messages.error());
    co_await take_all(*std::move(messages), *state, total);
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

Future<Result<ApiAnswer>> Recovery::ask_next(uint64_t sequence) {
  const boost::json::object question{{"seq", sequence}, {"next_by_subj", consumer_.subject()}};
  return api_.call("STREAM.MSG.GET." + consumer_.stream(), question);
}

// One that cannot be read is passed over: those behind it are waited for.
Result<Recovery::Next> Recovery::read_next(Result<ApiAnswer> answer, uint64_t asked) {
  if (!answer && answer.error().code == ErrorCode::kCorrupt) return Next{asked, std::nullopt};
  if (!answer) return std::unexpected(answer.error());
  if (answer->failed_with(ApiError::kNoMessage)) return Next{};
  if (answer->error) return fail(ErrorCode::kUnavailable, answer->error->description);
  std::optional<StoredMessage> message = read_stored_message(answer->body);
  if (!message) return Next{std::max(asked, number_at(answer->body, "message.seq")), std::nullopt};
  return Next{message->sequence.value(), std::move(message)};
}

Task<Result<std::vector<StoredMessage>>> Recovery::read_on(uint64_t last, Recovered& total) {
  std::vector<StoredMessage> found;
  // Where the first one is tells how much there is to pass over.
  Result<Next> first = read_next(co_await ask_next(read_to_ + 1), read_to_ + 1);
  if (!first) co_return std::unexpected(first.error());
  if (first->sequence == 0 || first->sequence > last) {
    read_to_ = last;
    co_return found;
  }
  const uint64_t from = first->sequence;
  uint64_t to = std::min(last, from - 1 + window_ * limits::kRecoveryQuestions);
  std::vector<Window> windows;
  for (uint64_t next = from; next <= to; next += window_) {
    windows.push_back({next, std::min(next + window_ - 1, to)});
  }
  size_t bytes = 0;
  uint64_t unreadable = 0;
  while (!windows.empty()) {
    std::vector<Future<Result<ApiAnswer>>> answers;
    answers.reserve(windows.size());
    for (const Window& window : windows) answers.push_back(ask_next(window.next));
    for (size_t i = 0; i < windows.size(); ++i) {
      Result<Next> next = read_next(co_await std::move(answers[i]), windows[i].next);
      if (!next) co_return std::unexpected(next.error());
      const bool inside = next->sequence != 0 && next->sequence <= windows[i].last;
      windows[i].next = inside ? next->sequence + 1 : windows[i].last + 1;
      if (!inside) continue;
      unreadable += !next->message;
      if (!next->message) continue;
      bytes += next->message->payload.size() + next->message->headers.size();
      found.push_back(*std::move(next->message));
    }
    std::erase_if(windows, [](const Window& window) { return window.next > window.last; });
    if (bytes > limits::kRecoveryBytes && !windows.empty()) {
      // Those behind the first gap are read again.
      to = windows.front().next - 1;
      std::erase_if(found, [to](const auto& message) { return message.sequence.value() > to; });
      break;
    }
  }
  std::ranges::sort(found, {}, &StoredMessage::sequence);
  total.unreadable += unreadable;
  const uint64_t thickness = std::max<uint64_t>(1, (to - from + 1) / (found.size() + 1));
  window_ = std::clamp(kWindowMin * thickness, kWindowMin, kWindowMax);
  read_to_ = to;
  co_return found;
}

Task<void> Recovery::take_all(std::vector<StoredMessage> messages, const State& state,
                              Recovered& total) {
  std::vector<std::string> marks;
  std::vector<std::optional<size_t>> places(messages.size());  // in what is asked
  for (size_t i = 0; i < messages.size(); ++i) {
    const StoredMessage& message = messages[i];
    if (consumer_.knows(message.sequence, message.stored_at) != Consumer::Knowledge::kNothing) {
      continue;
    }
    places[i] = marks.size();
    marks.push_back(consumer_.mark_of(message.sequence, message.stored_at));
  }
  // A store that does not tell is no reason to wait: handlers can tell a repeat.
  std::vector<bool> processed(marks.size());
  if (processed_ && !marks.empty()) {
    Result<std::vector<bool>> told = co_await processed_(std::move(marks));
    if (told && told->size() == processed.size()) processed = *std::move(told);
  }
  for (size_t i = 0; i < messages.size(); ++i) {
    take(std::move(messages[i]), places[i] && processed[*places[i]], state, total);
  }
}

void Recovery::take(StoredMessage message, bool processed, const State& state, Recovered& total) {
  ++total.read;
  switch (consumer_.knows(message.sequence, message.stored_at)) {
    case Consumer::Knowledge::kInHands:
    case Consumer::Knowledge::kGivenBack:
      return;
    case Consumer::Knowledge::kAnswered:
      ++total.said_again;
      return consumer_.answer_again(message.sequence);
    case Consumer::Knowledge::kNothing:
      break;
  }
  if (processed) {
    ++total.said_again;
    return consumer_.answered_elsewhere(message.sequence, message.stored_at);
  }
  ++total.recovered;
  consumer_.recovered(std::move(message), state.deliveries);
}

}  // namespace fairlead::bus::nats
