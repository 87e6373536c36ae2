#include "routing/id_order.h"

#include <algorithm>
#include <iterator>

#include "base/check.h"

namespace fairlead::routing {

namespace {
// Room that an id at either end leaves to its neighbour: 40 halvings.
constexpr uint64_t kStep = uint64_t{1} << 40;
constexpr uint64_t kQuarter = uint64_t{1} << 62;
}  // namespace

std::optional<uint64_t> IdOrder::insert(const WorkerId& id) {
  auto next = numbers_.lower_bound(id);
  if (next != numbers_.end() && next->first == id) return next->second;

  uint64_t number = 2 * kQuarter;
  if (next == numbers_.begin() && next != numbers_.end()) {
    number = next->second - std::min(kStep, next->second);
    if (number == next->second) return std::nullopt;
  } else if (next != numbers_.begin() && next == numbers_.end()) {
    uint64_t last = std::prev(next)->second;
    number = last + std::min(kStep, UINT64_MAX - last);
    if (number == last) return std::nullopt;
  } else if (next != numbers_.end()) {
    uint64_t previous = std::prev(next)->second;
    number = previous + (next->second - previous) / 2;
    if (number == previous) return std::nullopt;
  }
  numbers_.emplace_hint(next, id, number);
  return number;
}

void IdOrder::erase(const WorkerId& id) {
  numbers_.erase(id);
}

void IdOrder::renumber() {
  if (numbers_.empty()) return;
  uint64_t gap = 2 * kQuarter / numbers_.size();
  uint64_t number = kQuarter;
  for (auto& entry : numbers_) {
    entry.second = number;
    number += gap;
  }
}

}  // namespace fairlead::routing
