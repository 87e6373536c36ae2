// Where a worker stands among those that could take a job: the lower, the sooner it is picked.
#pragma once

#include <bit>
#include <cstdint>

namespace fairlead::routing {

// Three integers in place of the terms they stand for, so that a comparison touches nothing else.
struct Rank {
  // The score's bits: they order as the score does, for a score is never negative.
  uint64_t score = 0;
  // Ties: fewest of our own in flight, then most free capacity.
  uint64_t busy = 0;
  // Then the worker's id, by its number in an IdOrder.
  uint64_t ordinal = 0;

  bool operator==(const Rank&) const = default;

  // As one wide number: which of two is lower is a coin's throw, so there is no branch on it.
  friend bool operator<(const Rank& a, const Rank& b) {
    using Wide = unsigned __int128;
    Wide a_high = Wide{a.score} << 64 | a.busy;
    Wide b_high = Wide{b.score} << 64 | b.busy;
    return (a_high < b_high) | ((a_high == b_high) & (a.ordinal < b.ordinal));
  }
};

inline Rank make_rank(double score, int32_t in_flight, int32_t free_slots, uint64_t ordinal) {
  return {.score = std::bit_cast<uint64_t>(score),
          .busy = uint64_t{static_cast<uint32_t>(in_flight)} << 32 |
                  (UINT32_MAX - static_cast<uint32_t>(free_slots)),
          .ordinal = ordinal};
}

}  // namespace fairlead::routing
