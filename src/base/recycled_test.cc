#include "base/recycled.h"

#include <array>
#include <cstring>
#include <memory>
#include <vector>

#include <gtest/gtest.h>

#include "base/limits.h"

namespace fairlead {
namespace {

template <size_t kBytes>
struct Piece : Recycled {
  std::array<char, kBytes> bytes;
};

TEST(Recycled, PiecesThatLiveTogetherLieApart) {
  std::vector<std::unique_ptr<Piece<200>>> pieces;
  for (int round = 0; round < 3; ++round) {
    for (int i = 0; i < 100; ++i) {
      pieces.push_back(std::make_unique<Piece<200>>());
      std::memset(pieces.back()->bytes.data(), i, 200);
    }
    for (int i = 0; i < 100; ++i) {
      EXPECT_EQ(pieces[static_cast<size_t>(i)]->bytes[0], static_cast<char>(i));
      EXPECT_EQ(pieces[static_cast<size_t>(i)]->bytes[199], static_cast<char>(i));
    }
    pieces.clear();
  }
}

#if !__has_feature(address_sanitizer)
TEST(Recycled, WhatWasGivenBackLastIsGivenOutNext) {
  auto first = std::make_unique<Piece<300>>();
  auto second = std::make_unique<Piece<300>>();
  const void* where_first = first.get();
  const void* where_second = second.get();
  first.reset();
  second.reset();
  auto third = std::make_unique<Piece<310>>();  // rounded up it is of the same size
  auto fourth = std::make_unique<Piece<300>>();
  EXPECT_EQ(third.get(), where_second);
  EXPECT_EQ(fourth.get(), where_first);
}
#endif

TEST(Recycled, TakesPiecesThatAreTooLargeToKeep) {
  auto large = std::make_unique<Piece<limits::kRecycledPieceMax + 1>>();
  std::memset(large->bytes.data(), 1, large->bytes.size());
  EXPECT_EQ(large->bytes.back(), 1);
}

}  // namespace
}  // namespace fairlead
