// Small integers ordered by rank: the best at hand, any of them moved or taken out in O(log n).
//
// A four-ary heap: half the levels of a binary one, and the four children lie side by side.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include "routing/rank.h"

namespace fairlead::routing {

class RankedHeap {
 public:
  // Members are numbered densely from 0: the memory grows with the highest number.
  using Member = uint32_t;

  bool empty() const { return slots_.empty(); }
  // REQUIRES: not empty.
  Member best() const { return slots_.front().member; }

  // Takes `member` in with that rank, or moves it there.
  void set(Member member, const Rank& rank);
  // Nothing when it is not in.
  void remove(Member member);
  void clear();
  // `from`, in or not, is called `to` from now on. REQUIRES: `to` is not in.
  void rename(Member from, Member to);

  // The best that is accepted; asks best first, O(k log k) for k that are not.
  std::optional<Member> best_of(const std::function<bool(Member)>& accepted) const;

 private:
  static constexpr uint32_t kArity = 4;
  static constexpr uint32_t kNowhere = UINT32_MAX;

  struct Slot {
    Rank rank;
    Member member = 0;
  };

  uint32_t position_of(Member member) const;
  // Of the siblings that begin at `first`, which is in.
  uint32_t best_child(uint32_t first) const;
  void put(uint32_t position, const Slot& slot);
  void sift_up(uint32_t position, const Slot& slot);
  void sift_down(uint32_t position, const Slot& slot);

  std::vector<Slot> slots_;
  std::vector<uint32_t> positions_;
};

}  // namespace fairlead::routing
