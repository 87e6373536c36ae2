#include "routing/tournament.h"

#include <algorithm>

#include "base/check.h"

namespace fairlead::routing {

void Tournament::set(Member member, const Rank& rank) {
  make_room(member);
  play(member, rank);
}

void Tournament::remove(Member member) {
  if (has(member)) play(member, kNotIn);
}

void Tournament::clear() {
  rows_.clear();
  best_ = Slot{};
}

void Tournament::rename(Member from, Member to) {
  check(!has(to), "a member's new number is free");
  if (!has(from)) return;
  Rank rank = slot(0, from).rank;
  remove(from);
  set(to, rank);
}

bool Tournament::has(Member member) const {
  if (rows_.empty() || member / kGroup >= rows_.front().size()) return false;
  return slot(0, member).rank != kNotIn;
}

void Tournament::make_room(Member member) {
  if (!rows_.empty() && member / kGroup < rows_.front().size()) return;

  size_t groups = member / kGroup + 1;
  for (size_t row = 0;; ++row, groups = (groups + kGroup - 1) / kGroup) {
    if (row == rows_.size()) {
      rows_.emplace_back(1);
      rows_[row].front().slots[0] = best_;
    }
    rows_[row].resize(groups);
    if (groups == 1) break;
  }
}

void Tournament::play(Member member, const Rank& rank) {
  Slot winner{rank, member};
  uint32_t place = member;
  for (Row& row : rows_) {
    Slot* slots = row[place / kGroup].slots;
    uint32_t own = place % kGroup;
    // Who won below is who won before: nothing changes from here on.
    if (slots[own] == winner) return;
    slots[own] = winner;
    // The others play first: that need not wait for the row below.
    uint32_t rival = better(slots, better(slots, own ^ 1, own ^ 2), own ^ 3);
    winner = slots[better(slots, rival, own)];
    place /= kGroup;
  }
  best_ = winner;
}

std::optional<Tournament::Member> Tournament::best_of(
    const std::function<bool(Member)>& accepted) const {
  struct Branch {
    Slot best;
    // Of the group that it won; 0 for a member itself.
    size_t row;
    uint32_t group;
  };
  auto later = [](const Branch& a, const Branch& b) { return b.best.rank < a.best.rank; };
  std::vector<Branch> frontier;
  if (!empty()) frontier.push_back({best_, rows_.size(), 0});
  while (!frontier.empty()) {
    std::ranges::pop_heap(frontier, later);
    Branch branch = frontier.back();
    frontier.pop_back();
    auto member = static_cast<Member>(branch.best.member);
    if (accepted(member)) return member;
    if (branch.row == 0) continue;

    size_t row = branch.row - 1;
    for (uint32_t i = 0; i < kGroup; ++i) {
      uint32_t place = branch.group * kGroup + i;
      if (slot(row, place).rank == kNotIn) continue;
      frontier.push_back({slot(row, place), row, place});
      std::ranges::push_heap(frontier, later);
    }
  }
  return std::nullopt;
}

}  // namespace fairlead::routing
