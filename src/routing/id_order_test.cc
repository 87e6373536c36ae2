#include "routing/id_order.h"

#include <random>
#include <string>

#include <fmt/format.h>
#include <gtest/gtest.h>

namespace fairlead::routing {

namespace {

void insert(IdOrder& order, const std::string& id) {
  if (order.insert(WorkerId(id))) return;
  order.renumber();
  ASSERT_TRUE(order.insert(WorkerId(id)));
}

void expect_ascending(const IdOrder& order) {
  const uint64_t* previous = nullptr;
  for (const auto& [id, number] : order.numbers()) {
    if (previous) ASSERT_LT(*previous, number) << id.str();
    previous = &number;
  }
}

}  // namespace

TEST(IdOrder, NumbersCompareAsIdsDoInWhateverOrderTheyCome) {
  std::mt19937 random(1);
  IdOrder order;
  for (int i = 0; i < 5000; ++i) insert(order, fmt::format("w{:x}", random()));
  expect_ascending(order);
}

TEST(IdOrder, IdsThatComeInOrderNeedNoRenumbering) {
  IdOrder order;
  for (int i = 0; i < 20'000; ++i) ASSERT_TRUE(order.insert(WorkerId(fmt::format("w{:06}", i))));
  for (int i = 0; i < 20'000; ++i)
    ASSERT_TRUE(order.insert(WorkerId(fmt::format("v{:06}", 20'000 - i))));
  expect_ascending(order);
}

TEST(IdOrder, SaysWhenThereIsNoRoomAndHasItAfterRenumbering) {
  IdOrder order;
  insert(order, "a");
  insert(order, "c");
  int refused = 0;
  for (int i = 0; i < 1000; ++i) {
    WorkerId id(fmt::format("b{:04}", i));
    if (order.insert(id)) continue;
    ++refused;
    order.renumber();
    ASSERT_TRUE(order.insert(id));
  }
  EXPECT_GT(refused, 0);
  expect_ascending(order);
}

TEST(IdOrder, AKnownIdKeepsItsNumber) {
  IdOrder order;
  auto number = order.insert(WorkerId("a"));
  insert(order, "b");
  EXPECT_EQ(order.insert(WorkerId("a")), number);
  order.erase(WorkerId("a"));
  EXPECT_EQ(order.numbers().size(), 1u);
}

}  // namespace fairlead::routing
