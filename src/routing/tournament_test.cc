#include "routing/tournament.h"

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

TEST(Tournament, BestIsTheLowestRankThroughRandomChanges) {
  std::mt19937 random(3);
  Tournament tournament;
  std::map<Tournament::Member, Rank> plain;
  for (int step = 0; step < 20'000; ++step) {
    Tournament::Member member = random() % 300;
    if (random() % 3 == 0) {
      tournament.remove(member);
      plain.erase(member);
    } else {
      plain[member] = rank_of(random() % 50, member);
      tournament.set(member, plain[member]);
    }
    ASSERT_EQ(tournament.empty(), plain.empty());
    if (plain.empty()) continue;
    auto best = std::min_element(plain.begin(), plain.end(),
                                 [](const auto& a, const auto& b) { return a.second < b.second; });
    ASSERT_EQ(tournament.best(), best->first);
  }
}

TEST(Tournament, BestOfSkipsWhatIsNotAccepted) {
  Tournament tournament;
  for (Tournament::Member member = 0; member < 100; ++member) {
    tournament.set(member, rank_of(1000 - member));
  }
  std::set<Tournament::Member> refused = {99, 98, 97};
  EXPECT_EQ(tournament.best_of([&](auto member) { return !refused.contains(member); }), 96u);
  EXPECT_EQ(tournament.best_of([](auto) { return false; }), std::nullopt);
  EXPECT_EQ(Tournament().best_of([](auto) { return true; }), std::nullopt);
}

TEST(Tournament, ARenamedMemberKeepsItsRank) {
  Tournament tournament;
  tournament.set(0, rank_of(2));
  tournament.set(1, rank_of(1));
  tournament.rename(1, 9);
  EXPECT_EQ(tournament.best(), 9u);
  tournament.set(9, rank_of(3));
  EXPECT_EQ(tournament.best(), 0u);
  tournament.rename(5, 6);
  tournament.remove(0);
  EXPECT_EQ(tournament.best(), 9u);
}

}  // namespace fairlead::routing
