#include "runtime/random.h"

#include <array>
#include <set>

#include <gtest/gtest.h>

namespace fairlead {
namespace {

using namespace std::chrono_literals;

TEST(SeededRandom, GivesTheSameNumbersForTheSameSeed) {
  SeededRandom first(7), second(7), other(8);
  bool differs = false;
  for (int i = 0; i < 100; ++i) {
    const uint64_t number = first.next();
    EXPECT_EQ(number, second.next());
    differs |= number != other.next();
  }
  EXPECT_TRUE(differs);
}

// The published first outputs of SplitMix64: simulations replay on every machine.
TEST(SeededRandom, GivesTheNumbersOfSplitMix64) {
  SeededRandom random(0);
  EXPECT_EQ(random.next(), 0xe220a8397b1dcdafu);
  EXPECT_EQ(random.next(), 0x6e789e6aa1b965f4u);
  EXPECT_EQ(random.next(), 0x06c45d188009454fu);
}

TEST(Random, BelowStaysInItsRangeAndReachesAllOfIt) {
  SeededRandom random(1);
  std::array<int, 5> seen{};
  for (int i = 0; i < 5000; ++i) ++seen.at(random.below(5));
  for (int count : seen) EXPECT_NEAR(count, 1000, 150);
  EXPECT_EQ(random.below(1), 0u);
}

TEST(Random, ChanceIsOneInSoMany) {
  SeededRandom random(1);
  int hits = 0;
  for (int i = 0; i < 10'000; ++i) hits += random.chance(10);
  EXPECT_NEAR(hits, 1000, 150);
  EXPECT_TRUE(random.chance(1));
  EXPECT_FALSE(random.chance(0));
}

TEST(Random, BetweenIncludesBothEnds) {
  SeededRandom random(1);
  std::set<Duration> seen;
  for (int i = 0; i < 100; ++i) seen.insert(random.between(3us, 5us));
  EXPECT_EQ(seen, (std::set<Duration>{3us, 4us, 5us}));
  EXPECT_EQ(random.between(7s, 7s), 7s);
}

TEST(Random, TokenIsThirtyTwoHexadecimalDigits) {
  SystemRandom random;
  const std::string token = random.token();
  EXPECT_EQ(token.size(), 32u);
  EXPECT_EQ(token.find_first_not_of("0123456789abcdef"), std::string::npos);
  EXPECT_NE(token, random.token());
}

TEST(SystemRandom, DoesNotRepeatItsBlocks) {
  SystemRandom random;
  std::set<uint64_t> seen;
  for (int i = 0; i < 1000; ++i) seen.insert(random.next());
  EXPECT_EQ(seen.size(), 1000u);
}

}  // namespace
}  // namespace fairlead
