#include "runtime/future.h"

#include <memory>
#include <string>

#include <gtest/gtest.h>

#include "runtime/nursery.h"

namespace fairlead {
namespace {

using IntFuture = Future<Result<int>>;
using IntCompleter = Completer<Result<int>>;

Task<void> wait_for(IntFuture future, std::optional<Result<int>>& got) {
  got = co_await future;
}

TEST(Future, ThatIsReadyDoesNotSuspend) {
  std::optional<Result<int>> got;
  Nursery nursery;
  nursery.spawn(wait_for(IntFuture(5), got));
  EXPECT_EQ(**got, 5);
}

TEST(Future, CarriesAnError) {
  std::optional<Result<int>> got;
  Nursery nursery;
  nursery.spawn(wait_for(IntFuture(fail(ErrorCode::kFull, "disk")), got));
  EXPECT_EQ(got->error().code, ErrorCode::kFull);
}

TEST(Future, ResumesItsTaskWhenCompleted) {
  std::optional<Result<int>> got;
  IntCompleter completer;
  Nursery nursery;
  nursery.spawn(wait_for(completer.future(), got));
  EXPECT_FALSE(got);
  completer.complete(5);
  EXPECT_EQ(**got, 5);
  EXPECT_EQ(nursery.running(), 0u);
}

TEST(Future, MayBeCompletedBeforeItIsAwaited) {
  std::optional<Result<int>> got;
  IntCompleter completer;
  IntFuture future = completer.future();
  completer.complete(5);
  Nursery nursery;
  nursery.spawn(wait_for(std::move(future), got));
  EXPECT_EQ(**got, 5);
}

TEST(Future, MayBeDroppedBeforeItIsCompleted) {
  IntCompleter completer;
  {
    IntFuture future = completer.future();
  }
  EXPECT_FALSE(completer.wanted());
  completer.complete(5);
}

TEST(Future, NeverCompletesWhenItsCompleterIsDropped) {
  std::optional<Result<int>> got;
  Nursery nursery;
  {
    IntCompleter completer;
    nursery.spawn(wait_for(completer.future(), got));
  }
  EXPECT_EQ(nursery.running(), 1u);
  nursery.drop();
  EXPECT_FALSE(got);
}

TEST(Future, IsWantedWhileSomebodyHoldsIt) {
  IntCompleter completer;
  auto future = std::make_unique<IntFuture>(completer.future());
  EXPECT_TRUE(completer.wanted());
  IntFuture moved = std::move(*future);
  future.reset();
  EXPECT_TRUE(completer.wanted());
}

TEST(Future, ResumesWithCancelledWhenItsTaskIsToldToStop) {
  std::optional<Result<int>> got;
  IntCompleter completer;
  Nursery nursery;
  nursery.spawn(wait_for(completer.future(), got));
  nursery.cancel();
  EXPECT_EQ(got->error().code, ErrorCode::kCancelled);
  completer.complete(5);
  EXPECT_EQ(got->error().code, ErrorCode::kCancelled);
}

TEST(Future, FreesAValueThatNobodyFetched) {
  auto value = std::make_shared<int>();
  {
    Completer<Result<std::shared_ptr<int>>> completer;
    auto future = completer.future();
    completer.complete(value);
    EXPECT_EQ(value.use_count(), 2);
  }
  EXPECT_EQ(value.use_count(), 1);
}

TEST(Completer, MayBeMovedAndReplaced) {
  std::optional<Result<int>> first, second;
  Nursery nursery;
  IntCompleter completer;
  nursery.spawn(wait_for(completer.future(), first));
  IntCompleter moved = std::move(completer);
  completer = IntCompleter();
  nursery.spawn(wait_for(completer.future(), second));
  moved.complete(1);
  completer.complete(2);
  EXPECT_EQ(**first, 1);
  EXPECT_EQ(**second, 2);
}

// The task that is resumed may drop the completer's owner: nothing of it is touched afterwards.
TEST(Completer, MayBeDestroyedByTheTaskItResumes) {
  auto completer = std::make_unique<IntCompleter>();
  auto task = [](IntFuture future, std::unique_ptr<IntCompleter>& owned) -> Task<void> {
    (void)co_await future;
    owned.reset();
  };
  Nursery nursery;
  nursery.spawn(task(completer->future(), completer));
  completer->complete(1);
  EXPECT_EQ(completer, nullptr);
}

TEST(CompleterDeathTest, CompletesOnce) {
  IntCompleter completer;
  completer.complete(1);
  EXPECT_DEATH(completer.complete(2), "completes once");
}

}  // namespace
}  // namespace fairlead
