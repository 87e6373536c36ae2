#include "bus/nats/replies.h"

#include <charconv>
#include <iterator>
#include <map>

#include "base/limits.h"

namespace fairlead::bus::nats {

Replies::~Replies() {
  if (timer_) loop_.cancel(*timer_);
}

std::string Replies::expect(Take take) {
  waiting_.emplace(++last_, std::move(take));
  deadlines_.push_back({loop_.now() + limits::kNatsAnswerWait, last_});
  arm();
  return prefix_ + std::to_string(last_);
}

namespace {

uint64_t number_of(std::string_view subject, size_t prefix_bytes) {
  uint64_t number = 0;
  if (subject.size() <= prefix_bytes) return 0;
  subject.remove_prefix(prefix_bytes);
  std::from_chars(subject.data(), subject.data() + subject.size(), number);
  return number;
}

}  // namespace

void Replies::forget(const std::string& subject) {
  waiting_.erase(number_of(subject, prefix_.size()));
}

void Replies::arrived(Arrival message) {
  auto found = waiting_.find(number_of(message.subject, prefix_.size()));
  if (found == waiting_.end()) return;
  const Reply::Kind kind =
      message.no_responders ? Reply::Kind::kNoResponders : Reply::Kind::kAnswer;
  Take take = std::move(found->second);
  waiting_.erase(found);
  take({kind, std::move(message)});
}

void Replies::lost() {
  auto lost = std::exchange(waiting_, {});
  deadlines_.clear();
  std::map<uint64_t, Take> in_order(std::move_iterator(lost.begin()),
                                    std::move_iterator(lost.end()));
  std::weak_ptr<bool> alive = alive_;
  for (auto& [number, take] : in_order) {
    if (!alive.expired()) take({});
  }
}

void Replies::arm() {
  if (timer_ || deadlines_.empty()) return;
  timer_ = loop_.call_at(deadlines_.front().at, [this] {
    timer_.reset();
    std::weak_ptr<bool> alive = alive_;
    expire();
    if (!alive.expired()) arm();
  });
}

void Replies::expire() {
  const MonotonicTime now = loop_.now();
  std::weak_ptr<bool> alive = alive_;
  while (!alive.expired() && !deadlines_.empty()) {
    const Deadline first = deadlines_.front();
    auto found = waiting_.find(first.number);
    if (found != waiting_.end() && first.at > now) return;
    deadlines_.pop_front();
    if (found == waiting_.end()) continue;
    Take take = std::move(found->second);
    waiting_.erase(found);
    take({});
  }
}

}  // namespace fairlead::bus::nats
