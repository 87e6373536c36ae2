#include "store/table.h"

#include <gtest/gtest.h>

#include "base/limits.h"

namespace fairlead::store {
namespace {

job::Record record(int number) {
  job::Record record;
  record.id = JobId("job-" + std::to_string(number));
  record.tenant = TenantId("acme");
  record.trace = TraceId("trace-" + std::to_string(number / 2));
  record.updated_at = wall_time_from_micros(1000 - number);
  return record;
}

TEST(Table, FindsEveryJobWhileItGrowsAndShrinks) {
  Table table{WallTime{}};
  for (int i = 0; i < 1000; ++i) table.follow(record(i), {});
  for (int i = 0; i < 1000; ++i) EXPECT_TRUE(table.contains(record(i).id));
  EXPECT_EQ(table.scan({.by = Query::By::kTrace, .text = "trace-7"}, {}).jobs.size(), 2u);
  for (int i = 0; i < 1000; i += 2) {
    job::Record ended = record(i);
    ended.state = job::State::kSucceeded;
    table.follow(ended, {});
  }
  EXPECT_EQ(table.size(), 500u);
  for (int i = 0; i < 1000; ++i) EXPECT_EQ(table.contains(record(i).id), i % 2 == 1);
  EXPECT_EQ(table.scan({.by = Query::By::kTrace, .text = "trace-7"}, {}).jobs,
            std::vector<JobId>{JobId("job-15")});
}

TEST(Table, ARareJobIsFoundPageByPageAndNoPageLooksAtMoreThanItMay) {
  Table table{WallTime{}};
  constexpr int kJobs = static_cast<int>(limits::kScanVisitsMax) + 10;
  for (int i = 0; i < kJobs; ++i) {
    job::Record one = record(0);
    one.id = JobId("job-" + std::to_string(i));
    one.topic = Topic(i == 0 ? "job.rare" : "job.usual");
    one.updated_at = wall_time_from_micros(i);
    table.follow(one, {});
  }
  Query query{.only = {.topic = "job.rare"}};
  Table::Scanned first = table.scan(query, {});
  EXPECT_TRUE(first.jobs.empty());
  EXPECT_EQ(first.visited, limits::kScanVisitsMax);
  ASSERT_TRUE(first.stopped);
  query.cursor = to_cursor(*first.stopped);
  Table::Scanned second = table.scan(query, {});
  EXPECT_EQ(second.jobs, std::vector<JobId>{JobId("job-0")});
  EXPECT_EQ(second.visited, 10u);
  query.only.tenant = "acme";
  query.cursor.clear();
  EXPECT_EQ(table.scan(query, {}).visited, 1u) << "one tenant's jobs of a topic stand together";
}

TEST(Table, APlaceInTheMiddleIsFoundFromBothEnds) {
  Table table{WallTime{}};
  for (int i = 0; i < 10; ++i) {
    job::Record one = record(i);
    one.updated_at = wall_time_from_micros(i / 2);
    table.follow(one, {});
  }
  auto behind = [&](int64_t micros, bool ended) {
    Query query{.cursor = to_cursor({wall_time_from_micros(micros), "gone", ended})};
    return table.scan(query, {}).jobs.size();
  };
  for (int64_t at = 0; at < 5; ++at) {
    EXPECT_EQ(behind(at, false), static_cast<size_t>(2 * at + 2));
    EXPECT_EQ(behind(at, true), static_cast<size_t>(2 * at));
  }
  EXPECT_EQ(behind(9, true), 10u);
}

TEST(Table, SortedIsInOrderOfChange) {
  Table table{WallTime{}};
  for (int i = 0; i < 3; ++i) table.follow(record(i), {});
  table.sort();
  EXPECT_EQ(table.scan({.by = Query::By::kTenant, .text = "acme"}, {}).jobs,
            (std::vector<JobId>{JobId("job-2"), JobId("job-1"), JobId("job-0")}));
}

using namespace std::chrono_literals;

constexpr WallTime kWall{1000h};
constexpr MonotonicTime kNow{50s};

job::Record at(int number, WallTime now) {
  job::Record job = record(number);
  job.updated_at = now;
  return job;
}

std::vector<JobId> ids(std::initializer_list<int> numbers) {
  std::vector<JobId> all;
  for (int number : numbers) all.push_back(record(number).id);
  return all;
}

TEST(Table, ADueTimeComesAsFarAfterItsCommitAsItsWriterMeant) {
  Table table{WallTime{}};
  int number = 0;
  for (Duration wrong : {Duration(0), Duration(35min), Duration(-35min)}) {
    job::Record job = at(number++, kWall + wrong);
    job.due = kWall + wrong + 10s;
    job.deadline = kWall + wrong + 20s;
    table.follow(job, kNow);
  }
  EXPECT_EQ(table.scan({.by = Query::By::kDue}, kNow + 9s).jobs, ids({}));
  EXPECT_EQ(table.scan({.by = Query::By::kDue}, kNow + 10s).jobs, ids({0, 1, 2}));
  EXPECT_EQ(table.scan({.by = Query::By::kDeadline}, kNow + 19s).jobs, ids({}));
  EXPECT_EQ(table.scan({.by = Query::By::kDeadline}, kNow + 20s).jobs, ids({0, 1, 2}));
}

TEST(Table, ATimeThatAnotherWriterLeavesAsItIsComesWhenItWasToCome) {
  Table table{WallTime{}};
  job::Record job = at(0, kWall);
  job.due = kWall + 10s;
  table.follow(job, kNow);
  job.updated_at = kWall + 35min;
  table.follow(job, kNow + 1s);
  EXPECT_EQ(table.scan({.by = Query::By::kDue}, kNow + 9s).jobs, ids({}));
  EXPECT_EQ(table.scan({.by = Query::By::kDue}, kNow + 10s).jobs, ids({0}));
}

TEST(Table, AMarkIsAsOldAsItsDispatch) {
  Table table{WallTime{}};
  job::Record job = at(0, kWall);
  job.publish_pending = true;
  job.dispatched_at = kWall + 35min;
  table.follow(job, kNow);
  const Query marked{.by = Query::By::kUnpublished, .age = 2s};
  EXPECT_EQ(table.scan(marked, kNow + 1s).jobs, ids({}));
  table.follow(job, kNow + 1s);  // something else of it changed
  EXPECT_EQ(table.scan(marked, kNow + 2s).jobs, ids({0}));
  job.dispatched_at += 1s;
  table.follow(job, kNow + 2s);
  EXPECT_EQ(table.scan(marked, kNow + 3s).jobs, ids({}));
  EXPECT_EQ(table.scan(marked, kNow + 4s).jobs, ids({0}));
}

TEST(Table, WhatIsRestoredIsDueByTheClockOfNowButNeverLaterThanWasMeant) {
  job::Record job = at(0, kWall);
  job.due = kWall + 10s;
  Table later{WallTime{}};
  later.restore(job, kNow, kWall + 4s);
  EXPECT_EQ(later.scan({.by = Query::By::kDue}, kNow + 5s).jobs, ids({}));
  EXPECT_EQ(later.scan({.by = Query::By::kDue}, kNow + 6s).jobs, ids({0}));
  Table set_back{WallTime{}};
  set_back.restore(job, kNow, kWall - 35min);
  EXPECT_EQ(set_back.scan({.by = Query::By::kDue}, kNow + 9s).jobs, ids({}));
  EXPECT_EQ(set_back.scan({.by = Query::By::kDue}, kNow + 10s).jobs, ids({0}));
}

TEST(Table, WhoBeginsToWaitStandsBehindThoseWhoWait) {
  Table table{WallTime{}};
  auto wait = [&](int number, WallTime now) {
    job::Record job = at(number, now);
    job.wait = job::Wait{job::ReasonCode::kNoWorkers, "", "class", now, now};
    table.follow(job, kNow);
  };
  wait(1, kWall);
  wait(0, kWall - 35min);
  auto first = table.claim({{"class"}, 1}, kNow);
  ASSERT_EQ(first.size(), 1u);
  EXPECT_EQ(first[0].job, record(1).id);
}

TEST(Table, TheLineIsRestoredAsItWasAlsoByAClockThatWasSetBack) {
  Table table{WallTime{}};
  for (int number : {0, 1, 2}) {
    WallTime queued = kWall - number * 1min;
    job::Record job = at(number, queued);
    job.wait = job::Wait{job::ReasonCode::kNoWorkers, "", "class", queued, queued};
    table.restore(job, kNow, kWall - 35min);
  }
  std::vector<JobId> line;
  for (const Claim& claim : table.claim({{"class"}, 3}, kNow)) line.push_back(claim.job);
  EXPECT_EQ(line, ids({2, 1, 0}));
}

}  // namespace
}  // namespace fairlead::store
