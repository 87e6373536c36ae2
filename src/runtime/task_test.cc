#include "runtime/task.h"

#include <memory>
#include <stdexcept>
#include <string>

#include <gtest/gtest.h>

#include "runtime/future.h"
#include "runtime/nursery.h"

namespace fairlead {
namespace {

Task<int> answer(int value) {
  co_return value;
}

Task<std::unique_ptr<int>> boxed(int value) {
  co_return std::make_unique<int>(value);
}

Task<int> throwing() {
  throw std::runtime_error("on purpose");
  co_return 0;
}

TEST(Task, StartsOnlyWhenAwaited) {
  bool ran = false;
  auto note = [](bool& flag) -> Task<void> {
    flag = true;
    co_return;
  };
  Task<void> task = note(ran);
  EXPECT_FALSE(ran);
  Nursery nursery;
  nursery.spawn(std::move(task));
  EXPECT_TRUE(ran);
}

TEST(Task, GivesItsValueToTheOneThatAwaits) {
  int got = 0;
  auto caller = [](int& sum) -> Task<void> { sum = co_await answer(40) + co_await answer(2); };
  Nursery nursery;
  nursery.spawn(caller(got));
  EXPECT_EQ(got, 42);
}

TEST(Task, MovesValuesThatCannotBeCopied) {
  std::unique_ptr<int> got;
  auto caller = [](std::unique_ptr<int>& out) -> Task<void> { out = co_await boxed(7); };
  Nursery nursery;
  nursery.spawn(caller(got));
  EXPECT_EQ(*got, 7);
}

TEST(Task, CarriesAnExceptionToTheOneThatAwaits) {
  std::string caught;
  auto caller = [](std::string& message) -> Task<void> {
    try {
      co_await throwing();
    } catch (const std::runtime_error& error) {
      message = error.what();
    }
  };
  Nursery nursery;
  nursery.spawn(caller(caught));
  EXPECT_EQ(caught, "on purpose");
}

TEST(Task, CarriesAnExceptionThroughTasksWithoutValue) {
  bool caught = false;
  auto inner = []() -> Task<void> { co_await throwing(); };
  auto caller = [&](bool& flag) -> Task<void> {
    try {
      co_await inner();
    } catch (const std::runtime_error&) {
      flag = true;
    }
  };
  Nursery nursery;
  nursery.spawn(caller(caught));
  EXPECT_TRUE(caught);
}

TEST(Task, MayBeMovedBeforeItIsAwaited) {
  int got = 0;
  auto caller = [](Task<int> task, int& out) -> Task<void> {
    Task<int> moved = std::move(task);
    Task<int> assigned = answer(1);
    assigned = std::move(moved);
    out = co_await assigned;
  };
  Nursery nursery;
  nursery.spawn(caller(answer(9), got));
  EXPECT_EQ(got, 9);
}

TEST(Task, IsDestroyedUnstartedWithItsArguments) {
  auto alive = std::make_shared<int>();
  auto task = [](std::shared_ptr<int>) -> Task<void> { co_return; };
  {
    Task<void> unused = task(alive);
  }
  EXPECT_EQ(alive.use_count(), 1);
}

TEST(Task, AwaitsAHundredThousandTasksInARowOnAFlatStack) {
  int64_t sum = 0;
  auto caller = [](int64_t& out) -> Task<void> {
    for (int i = 0; i < 100'000; ++i) out += co_await answer(1);
  };
  Nursery nursery;
  nursery.spawn(caller(sum));
  EXPECT_EQ(sum, 100'000);
}

Task<int> nested(int depth) {
  if (depth == 0) co_return 0;
  co_return 1 + co_await nested(depth - 1);
}

TEST(Task, AwaitsAHundredThousandTasksInsideEachOtherOnAFlatStack) {
  int depth = 0;
  auto caller = [](int& out) -> Task<void> { out = co_await nested(100'000); };
  Nursery nursery;
  nursery.spawn(caller(depth));
  EXPECT_EQ(depth, 100'000);
}

Task<int> nested_wait(int depth, Future<Result<int>> future) {
  if (depth == 0) co_return *co_await future;
  co_return 1 + co_await nested_wait(depth - 1, std::move(future));
}

TEST(Task, ResumesADeepChainOnAFlatStack) {
  int got = 0;
  Completer<Result<int>> completer;
  auto caller = [](Future<Result<int>> future, int& out) -> Task<void> {
    out = co_await nested_wait(100'000, std::move(future));
  };
  Nursery nursery;
  nursery.spawn(caller(completer.future(), got));
  EXPECT_EQ(got, 0);
  completer.complete(1);
  EXPECT_EQ(got, 100'001);
}

}  // namespace
}  // namespace fairlead
