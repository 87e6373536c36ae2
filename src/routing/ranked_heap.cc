#include "routing/ranked_heap.h"

#include <algorithm>

#include "base/check.h"

namespace fairlead::routing {

uint32_t RankedHeap::position_of(Member member) const {
  return member < positions_.size() ? positions_[member] : kNowhere;
}

void RankedHeap::put(uint32_t position, const Slot& slot) {
  slots_[position] = slot;
  positions_[slot.member] = position;
}

void RankedHeap::set(Member member, const Rank& rank) {
  Slot slot{rank, member};
  uint32_t position = position_of(member);
  if (position != kNowhere) {
    if (rank < slots_[position].rank) {
      sift_up(position, slot);
    } else {
      sift_down(position, slot);
    }
    return;
  }
  if (member >= positions_.size()) positions_.resize(member + 1, kNowhere);
  slots_.push_back(slot);
  sift_up(static_cast<uint32_t>(slots_.size() - 1), slot);
}

void RankedHeap::remove(Member member) {
  uint32_t position = position_of(member);
  if (position == kNowhere) return;

  positions_[member] = kNowhere;
  Slot last = slots_.back();
  slots_.pop_back();
  if (last.member == member) return;
  if (last.rank < slots_[position].rank) {
    sift_up(position, last);
  } else {
    sift_down(position, last);
  }
}

void RankedHeap::clear() {
  slots_.clear();
  positions_.clear();
}

void RankedHeap::rename(Member from, Member to) {
  check(position_of(to) == kNowhere, "a member's new number is free");
  uint32_t position = position_of(from);
  if (position == kNowhere) return;

  positions_[from] = kNowhere;
  if (to >= positions_.size()) positions_.resize(to + 1, kNowhere);
  slots_[position].member = to;
  positions_[to] = position;
}

std::optional<RankedHeap::Member> RankedHeap::best_of(
    const std::function<bool(Member)>& accepted) const {
  auto later = [&](uint32_t a, uint32_t b) { return slots_[b].rank < slots_[a].rank; };
  std::vector<uint32_t> frontier;
  if (!slots_.empty()) frontier.push_back(0);
  while (!frontier.empty()) {
    std::ranges::pop_heap(frontier, later);
    uint32_t position = frontier.back();
    frontier.pop_back();
    if (accepted(slots_[position].member)) return slots_[position].member;

    uint32_t first_child = position * kArity + 1;
    for (uint32_t child = first_child; child < first_child + kArity; ++child) {
      if (child >= slots_.size()) break;
      frontier.push_back(child);
      std::ranges::push_heap(frontier, later);
    }
  }
  return std::nullopt;
}

void RankedHeap::sift_up(uint32_t position, const Slot& slot) {
  while (position > 0) {
    uint32_t parent = (position - 1) / kArity;
    if (!(slot.rank < slots_[parent].rank)) break;
    put(position, slots_[parent]);
    position = parent;
  }
  put(position, slot);
}

uint32_t RankedHeap::best_child(uint32_t first) const {
  auto better = [&](uint32_t a, uint32_t b) { return slots_[a].rank < slots_[b].rank; };
  if (first + kArity <= slots_.size()) {
    // Sums in place of branches: which child is best cannot be predicted.
    uint32_t left = first + uint32_t{better(first + 1, first)};
    uint32_t right = first + 2 + uint32_t{better(first + 3, first + 2)};
    return left + (right - left) * uint32_t{better(right, left)};
  }
  uint32_t best = first;
  for (uint32_t child = first + 1; child < slots_.size(); ++child) {
    if (better(child, best)) best = child;
  }
  return best;
}

void RankedHeap::sift_down(uint32_t position, const Slot& slot) {
  while (true) {
    uint32_t first_child = position * kArity + 1;
    if (first_child >= slots_.size()) break;
    uint32_t best = best_child(first_child);
    if (!(slots_[best].rank < slot.rank)) break;
    put(position, slots_[best]);
    position = best;
  }
  put(position, slot);
}

}  // namespace fairlead::routing
