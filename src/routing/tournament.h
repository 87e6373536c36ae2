// Small integers ordered by rank: the best at hand, any of them moved or taken out in O(log n).
//
//   row 1        12 of member 1       10 of member 5        the best of each four below
//   row 0     30   12   44   --     31   10   --   27       members by number; -- is not in
//
// Where a member plays follows from its number alone: there is no table of positions to look up and
// to keep, and the memory of all the rows is fetched at once. With many members, that is the time.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include "base/huge_pages.h"
#include "routing/rank.h"

namespace fairlead::routing {

class Tournament {
 public:
  // Members are numbered densely from 0: the memory grows with the highest number.
  using Member = uint32_t;

  bool empty() const { return best_.rank == kNotIn; }
  // REQUIRES: not empty.
  Member best() const { return static_cast<Member>(best_.member); }

  // Takes `member` in with that rank, or moves it there.
  void set(Member member, const Rank& rank);
  // Nothing when it is not in.
  void remove(Member member);
  void clear();
  // `from`, in or not, is called `to` from now on. REQUIRES: `to` is not in.
  void rename(Member from, Member to);

  // The best that is accepted; asks best first, O(k log n) questions for k that are not.
  std::optional<Member> best_of(const std::function<bool(Member)>& accepted) const;

 private:
  static constexpr uint32_t kGroup = 4;
  // After every rank that a worker can have: its score would be no number.
  static constexpr Rank kNotIn{UINT64_MAX, UINT64_MAX, UINT64_MAX};

  struct Slot {
    Rank rank = kNotIn;
    // As wide as the rest: a copy is then two whole moves.
    uint64_t member = 0;

    bool operator==(const Slot&) const = default;
  };
  // Those who play against each other: two cache lines.
  struct alignas(kGroup * sizeof(Slot)) Group {
    Slot slots[kGroup];
  };
  using Row = std::vector<Group, HugePages<Group>>;

  // Of two places in a group. Which one it is cannot be predicted, so there is no branch on it.
  static uint32_t better(const Slot* slots, uint32_t a, uint32_t b) {
    return a ^ ((a ^ b) & (0 - uint32_t{slots[b].rank < slots[a].rank}));
  }
  const Slot& slot(size_t row, uint32_t place) const {
    return rows_[row][place / kGroup].slots[place % kGroup];
  }
  bool has(Member member) const;
  void make_room(Member member);
  void play(Member member, const Rank& rank);

  // Upwards; the last has one group.
  std::vector<Row> rows_;
  Slot best_;
};

}  // namespace fairlead::routing
