#include "tests/behaviour/idle_sweeps.h"

#include <algorithm>
#include <cstdlib>

namespace fairlead::behaviour {

namespace {

constexpr const char* kEarliest = R"lua(
local earliest = {}
for i, key in ipairs({'fairlead:due', 'job:deadline', 'fairlead:unpublished', 'fairlead:classes',
                      'fairlead:claims'}) do
  earliest[i] = redis.call('ZRANGE', key, 0, 0, 'WITHSCORES')[2] or 'inf'
end
return earliest)lua";

bool is_later(double earliest, WallTime now) {
  return earliest > static_cast<double>(to_micros(now));
}

}  // namespace

void IdleSweeps::settled() {
  if (knowledge_ == Knowledge::kMoving) knowledge_ = Knowledge::kOld;
}

bool IdleSweeps::know() {
  if (knowledge_ == Knowledge::kOld) {
    std::vector<double> at;
    for (const std::string& text : servers_.ask_redis({"EVAL", kEarliest, "0"}).texts()) {
      at.push_back(std::strtod(text.c_str(), nullptr));
    }
    next_ = {at.at(0), at.at(1), at.at(2), std::min(at.at(3), at.at(4))};
    waiting_.reset();
    knowledge_ = Knowledge::kNew;
  }
  return knowledge_ == Knowledge::kNew;
}

bool IdleSweeps::finds_nothing(const store::Query& query, WallTime now) {
  using By = store::Query::By;
  if (!know()) return false;
  if (query.by == By::kDue) return is_later(next_.due, now - query.age);
  if (query.by == By::kDeadline) return is_later(next_.deadline, now - query.age);
  if (query.by == By::kUnpublished) return is_later(next_.unpublished, now - query.age);
  return false;
}

bool IdleSweeps::claims_nothing(WallTime now) {
  return know() && is_later(next_.claim, now);
}

const IdleSweeps::Classes* IdleSweeps::waiting() {
  return know() && waiting_ ? &*waiting_ : nullptr;
}

void IdleSweeps::keep_waiting(Classes classes) {
  if (knowledge_ == Knowledge::kNew) waiting_ = std::move(classes);
}

}  // namespace fairlead::behaviour
