#include "routing/worker_index.h"

#include <algorithm>
#include <deque>
#include <map>
#include <random>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "routing/test_workers.h"

namespace fairlead::routing {

namespace {

// Workers w0, w1, … of one pool, ranked by their number, in an index with little room for views.
class SmallIndex {
 public:
  explicit SmallIndex(size_t views_max, size_t seats_max = 1000) : index_(views_max, seats_max) {}

  ~SmallIndex() {
    for (Candidate& candidate : candidates_) {
      if (!candidate.seats.empty()) index_.erase(candidate);
    }
  }

  Candidate& add(Labels labels) {
    uint64_t number = reports_.size();
    reports_.push_back(labelled_worker(fmt::format("w{}", number), std::move(labels)));
    candidates_.push_back({.report = &reports_.back(), .rank = {.ordinal = number}, .open = true});
    index_.insert(candidates_.back());
    return candidates_.back();
  }

  // "w3 of 5": the best and how many match.
  std::string find(const Labels& placement) {
    // Asked twice: what is remembered is what is found.
    FoundViews& remembered = found_[placement];
    auto fresh = index_.find({PoolName("default")}, placement, {}, {}, remembered);
    auto found = index_.find({PoolName("default")}, placement, {}, {}, remembered);
    EXPECT_EQ(found.best, fresh.best);
    EXPECT_EQ(found.matching, fresh.matching);
    return fmt::format("{} of {}", found.best ? found.best->report->id.str() : "none",
                       found.matching);
  }

  WorkerIndex& index() { return index_; }

 private:
  WorkerIndex index_;
  std::map<Labels, FoundViews> found_;
  std::deque<WorkerReport> reports_;
  std::deque<Candidate> candidates_;
};

}  // namespace

TEST(WorkerIndex, FindsTheBestOfThoseThatCarryEveryLabel) {
  SmallIndex workers(10);
  workers.add({{"node.os", "mac"}, {"node.zone", "eu"}});
  workers.add({{"node.os", "linux"}, {"node.zone", "us"}});
  workers.add({{"node.os", "linux"}, {"node.zone", "eu"}});
  workers.add({{"node.os", "linux"}, {"node.zone", "eu"}});
  EXPECT_EQ(workers.find({}), "w0 of 4");
  EXPECT_EQ(workers.find({{"node.os", "linux"}}), "w1 of 3");
  EXPECT_EQ(workers.find({{"node.os", "linux"}, {"node.zone", "eu"}}), "w2 of 2");
  EXPECT_EQ(workers.find({{"node.os", "mac"}, {"node.zone", "us"}}), "none of 0");
}

TEST(WorkerIndex, ALabelThatNobodyCarriesMakesNoView) {
  SmallIndex workers(10);
  workers.add({{"node.zone", "eu"}});
  EXPECT_EQ(workers.find({{"node.zone", "eu"}, {"node.x", "1"}}), "none of 0");
  EXPECT_EQ(workers.index().label_views(), 0u);
}

TEST(WorkerIndex, AViewFollowsWorkersThatComeGoOpenAndClose) {
  SmallIndex workers(10);
  Labels eu = {{"node.zone", "eu"}};
  Candidate& first = workers.add(eu);
  EXPECT_EQ(workers.find(eu), "w0 of 1");
  workers.add(eu);
  EXPECT_EQ(workers.find(eu), "w0 of 2");
  first.open = false;
  workers.index().update(first);
  EXPECT_EQ(workers.find(eu), "w1 of 2");
  first.open = true;
  workers.index().update(first);
  EXPECT_EQ(workers.find(eu), "w0 of 2");
  workers.index().erase(first);
  EXPECT_EQ(workers.find(eu), "w1 of 1");
}

TEST(WorkerIndex, ARankingGivenUpForLackOfQuestionsIsMadeAnew) {
  SmallIndex workers(10);
  Candidate& first = workers.add({});
  workers.add({});
  EXPECT_EQ(workers.find({}), "w0 of 2");
  for (uint64_t score = 1; score <= 100; ++score) {
    first.rank.score = score;
    workers.index().update(first);
  }
  EXPECT_EQ(workers.find({}), "w1 of 2");
  first.rank.score = 0;
  workers.index().update(first);
  EXPECT_EQ(workers.find({}), "w0 of 2");
}

TEST(WorkerIndex, ViewsAndTheirSeatsStayWithinBounds) {
  SmallIndex workers(3, 8);
  std::mt19937 random(5);
  auto some_labels = [&] {
    Labels labels;
    for (const char* name : {"node.a", "node.b", "node.c"}) {
      if (random() % 2) labels[name] = std::to_string(random() % 2);
    }
    return labels;
  };
  std::vector<Labels> known;
  for (int i = 0; i < 8; ++i) {
    known.push_back(some_labels());
    workers.add(known.back());
  }
  for (int step = 0; step < 2000; ++step) {
    Labels asked = some_labels();
    size_t matching = 0;
    std::string best = "none";
    for (size_t i = 0; i < known.size(); ++i) {
      if (first_mismatch(known[i], asked)) continue;
      if (matching++ == 0) best = fmt::format("w{}", i);
    }
    ASSERT_EQ(workers.find(asked), fmt::format("{} of {}", best, matching));
    ASSERT_LE(workers.index().label_views(), 3u);
    ASSERT_LE(workers.index().label_seats(), 8u);
  }
}

TEST(WorkerIndex, TheViewUsedLongestAgoMakesRoom) {
  SmallIndex workers(2);
  Candidate& worker = workers.add({{"node.a", "1"}, {"node.b", "1"}, {"node.c", "1"}});
  workers.find({{"node.a", "1"}});
  workers.find({{"node.b", "1"}});
  CandidateView* kept = worker.seats[1].view;
  workers.find({{"node.a", "1"}});
  workers.find({{"node.c", "1"}});
  EXPECT_EQ(worker.seats.size(), 3u);
  EXPECT_TRUE(std::ranges::any_of(worker.seats, [&](auto& seat) { return seat.view == kept; }));
}

}  // namespace fairlead::routing
