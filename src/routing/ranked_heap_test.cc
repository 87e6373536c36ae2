#include "routing/ranked_heap.h"

#include <algorithm>
#include <map>
#include <random>
#include <set>

#include <gtest/gtest.h>

namespace fairlead::routing {

namespace {

Rank rank_of(uint64_t score, uint64_t ordinal = 0) {
  return {.score = score, .ordinal = ordinal};
}

}  // namespace

TEST(Rank, OrdersByScoreThenInFlightThenFreeCapacityThenId) {
  Rank base = make_rank(1.5, 2, 10, 7);
  EXPECT_LT(make_rank(1.25, 9, 0, 9), base);
  EXPECT_LT(make_rank(1.5, 1, 0, 9), base);
  EXPECT_LT(make_rank(1.5, 2, 11, 9), base);
  EXPECT_LT(make_rank(1.5, 2, INT32_MAX, 9), base);
  EXPECT_LT(make_rank(1.5, 2, 10, 6), base);
  EXPECT_EQ(make_rank(1.5, 2, 10, 7), base);
  EXPECT_LT(make_rank(0, 0, 0, 0), make_rank(0.01, 0, 0, 0));
}

TEST(RankedHeap, BestIsTheLowestRankThroughRandomChanges) {
  std::mt19937 random(3);
  RankedHeap heap;
  std::map<RankedHeap::Member, Rank> plain;
  for (int step = 0; step < 20'000; ++step) {
    RankedHeap::Member member = random() % 300;
    if (random() % 3 == 0) {
      heap.remove(member);
      plain.erase(member);
    } else {
      plain[member] = rank_of(random() % 50, member);
      heap.set(member, plain[member]);
    }
    ASSERT_EQ(heap.empty(), plain.empty());
    if (plain.empty()) continue;
    auto best = std::min_element(plain.begin(), plain.end(),
                                 [](const auto& a, const auto& b) { return a.second < b.second; });
    ASSERT_EQ(heap.best(), best->first);
  }
}

TEST(RankedHeap, BestOfSkipsWhatIsNotAccepted) {
  RankedHeap heap;
  for (RankedHeap::Member member = 0; member < 100; ++member) {
    heap.set(member, rank_of(1000 - member));
  }
  std::set<RankedHeap::Member> refused = {99, 98, 97};
  EXPECT_EQ(heap.best_of([&](auto member) { return !refused.contains(member); }), 96u);
  EXPECT_EQ(heap.best_of([](auto) { return false; }), std::nullopt);
  EXPECT_EQ(RankedHeap().best_of([](auto) { return true; }), std::nullopt);
}

TEST(RankedHeap, ARenamedMemberKeepsItsRank) {
  RankedHeap heap;
  heap.set(0, rank_of(2));
  heap.set(1, rank_of(1));
  heap.rename(1, 9);
  EXPECT_EQ(heap.best(), 9u);
  heap.set(9, rank_of(3));
  EXPECT_EQ(heap.best(), 0u);
  heap.rename(5, 6);
  heap.remove(0);
  EXPECT_EQ(heap.best(), 9u);
}

}  // namespace fairlead::routing
