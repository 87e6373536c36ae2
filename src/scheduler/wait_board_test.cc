#include "scheduler/wait_board.h"

#include <gtest/gtest.h>

#include "base/limits.h"

namespace fairlead::scheduler {
namespace {

using namespace std::chrono_literals;
using Views = std::vector<store::WaitClassView>;

std::string rack(int number) {
  std::string name = "rack" + std::to_string(100 + number);
  return routing::wait_class_text({PoolName("main")}, {{"node." + name, "yes"}});
}

routing::WorkerReport worker_with_racks(int count) {
  routing::WorkerReport report;
  report.id = WorkerId("w1");
  report.pool = PoolName("main");
  for (int i = 0; i < count; ++i) report.labels["node.rack" + std::to_string(100 + i)] = "yes";
  return report;
}

WallTime at(int second) {
  return WallTime() + std::chrono::seconds(1000 + second);
}

TEST(WaitBoard, NamesTheClassesThatAWorkerFits) {
  WaitBoard board;
  EXPECT_TRUE(board.add("pools=default", at(0)));
  EXPECT_TRUE(board.add("pools=gpu", at(0)));
  EXPECT_TRUE(board.add("pools=default;node.zone=eu", at(0)));
  EXPECT_FALSE(board.add("pools=gpu", at(0)));
  routing::WorkerReport worker;
  worker.id = WorkerId("w1");
  worker.pool = PoolName("default");
  EXPECT_EQ(board.fitting(worker), std::vector<std::string>{"pools=default"});
}

TEST(WaitBoard, OffersAFreedSlotToTheWorkersClassesAndTheTenants) {
  WaitBoard board;
  board.add("pools=default", at(0));
  board.add(tenant_class(TenantId("acme")), at(0));
  routing::WorkerReport worker;
  worker.id = WorkerId("w1");
  worker.pool = PoolName("default");
  EXPECT_EQ(board.groups(&worker, TenantId("acme")).size(), 2u);
  EXPECT_EQ(board.groups(&worker, TenantId("bolt")).size(), 1u);
  EXPECT_EQ(board.groups(nullptr, TenantId("bolt")).size(), 0u);
}

TEST(WaitBoard, OffersTheClassesInWhichTheLongestWaitComesFirst) {
  constexpr int kClasses = static_cast<int>(limits::kClaimClassesMax) + 1;
  WaitBoard board;
  for (int i = 0; i < kClasses; ++i) board.add(rack(i), at(i));
  auto worker = worker_with_racks(kClasses);
  std::vector<std::string> offered = board.fitting(worker);
  ASSERT_EQ(offered.size(), limits::kClaimClassesMax);
  EXPECT_EQ(offered.front(), rack(0));
  EXPECT_EQ(offered.back(), rack(kClasses - 2));

  // The first of each class but the last has gone, and others wait behind it.
  Views page;
  for (int i = 0; i < kClasses; ++i) page.push_back({rack(i), 1, at(100 + i)});
  page.back().oldest_since = at(kClasses - 1);
  board.refresh("", page, true);
  EXPECT_EQ(board.fitting(worker).front(), rack(kClasses - 1));
}

TEST(WaitBoard, APageReplacesOnlyWhatItCovers) {
  WaitBoard board;
  for (int i = 0; i < 6; ++i) board.add(rack(i), at(i));
  auto worker = worker_with_racks(6);
  // Behind 1 there are 2 and 4, and it is not the last page.
  EXPECT_TRUE(board.refresh(rack(1), {{rack(2), 1, at(2)}, {rack(4), 1, at(4)}}, false).empty());
  EXPECT_EQ(board.fitting(worker), (std::vector{rack(0), rack(1), rack(2), rack(4), rack(5)}));
  // Behind 4 there is nothing more.
  board.refresh(rack(4), {}, true);
  EXPECT_EQ(board.fitting(worker), (std::vector{rack(0), rack(1), rack(2), rack(4)}));
}

TEST(WaitBoard, PagesOfVeryManyClassesReplaceThemOneAfterTheOther) {
  constexpr int kClasses = 50'000;
  constexpr int kPage = 1000;
  auto name = [](int i) { return fmt::format("pools=p;node.id=n{:05}", i); };
  auto worker_of = [](int i) {
    routing::WorkerReport worker;
    worker.pool = PoolName("p");
    worker.labels = {{"node.id", fmt::format("n{:05}", i)}};
    return worker;
  };
  WaitBoard board;
  for (int i = 0; i < kClasses; ++i) board.add(name(i), at(0));
  // Nobody waits in every other of them any more.
  std::string after;
  for (int first = 0; first < kClasses; first += 2 * kPage) {
    Views page;
    for (int i = first; i < first + 2 * kPage; i += 2) page.push_back({name(i), 1, at(0)});
    EXPECT_FALSE(board.fitting(worker_of(first + 2 * kPage - 3)).empty()) << "not yet listed";
    EXPECT_TRUE(board.refresh(after, page, false).empty());
    after = page.back().wait_class;
    EXPECT_TRUE(board.fitting(worker_of(first + 2 * kPage - 3)).empty());
    EXPECT_FALSE(board.fitting(worker_of(first)).empty());
  }
  EXPECT_FALSE(board.fitting(worker_of(kClasses - 1)).empty());
  board.refresh(after, {}, true);
  EXPECT_TRUE(board.fitting(worker_of(kClasses - 1)).empty());
}

TEST(WaitBoard, NamesTheClassesThatWereNotKnown) {
  WaitBoard board;
  board.add(rack(1), at(1));
  Views page = {{rack(1), 1, at(1)}, {rack(2), 1, at(2)}, {"tenant=acme", 1, at(3)}};
  EXPECT_EQ(board.refresh("", page, true), (std::vector<std::string>{rack(2), "tenant=acme"}));
  EXPECT_TRUE(board.refresh("", page, true).empty());
}

TEST(WaitBoard, ATenantsClassIsForgottenWhenNobodyWaitsInIt) {
  WaitBoard board;
  board.add("tenant=acme", at(1));
  EXPECT_EQ(board.groups(nullptr, TenantId("acme")).size(), 1u);
  board.refresh("", {}, true);
  EXPECT_TRUE(board.empty());
}

TEST(WaitBoard, AWorkerMeetsItsOwnAmongManyClassesOfItsPool) {
  WaitBoard board;
  for (int i = 0; i < 5000; ++i) {
    board.add(fmt::format("pools=p;node.group=g;node.id=n{}", i), at(i));
  }
  board.add("pools=p", at(6000));
  routing::WorkerReport worker;
  worker.id = WorkerId("w");
  worker.pool = PoolName("p");
  worker.labels = {{"node.group", "g"}, {"node.id", "n4999"}};
  EXPECT_EQ(board.fitting(worker),
            (std::vector<std::string>{"pools=p;node.group=g;node.id=n4999", "pools=p"}));
}

TEST(WaitBoard, ForgetsAClassWhereverItStood) {
  WaitBoard board;
  board.add("pools=p,q;node.id=n1", at(1));
  board.refresh("", {}, true);
  EXPECT_TRUE(board.empty());
  routing::WorkerReport worker;
  worker.pool = PoolName("q");
  worker.labels = {{"node.id", "n1"}};
  EXPECT_TRUE(board.fitting(worker).empty());
}

}  // namespace
}  // namespace fairlead::scheduler
