#include "store/table.h"

#include <gtest/gtest.h>

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
  for (int i = 0; i < 1000; ++i) table.follow(record(i), {}, {});
  for (int i = 0; i < 1000; ++i) EXPECT_TRUE(table.contains(record(i).id));
  EXPECT_EQ(table.scan({.by = Query::By::kTrace, .text = "trace-7"}).size(), 2u);
  for (int i = 0; i < 1000; i += 2) {
    job::Record ended = record(i);
    ended.state = job::State::kSucceeded;
    table.follow(ended, {}, {});
  }
  EXPECT_EQ(table.size(), 500u);
  for (int i = 0; i < 1000; ++i) EXPECT_EQ(table.contains(record(i).id), i % 2 == 1);
  EXPECT_EQ(table.scan({.by = Query::By::kTrace, .text = "trace-7"}),
            std::vector<JobId>{JobId("job-15")});
}

TEST(Table, SortedIsInOrderOfChange) {
  Table table{WallTime{}};
  for (int i = 0; i < 3; ++i) table.follow(record(i), {}, {});
  table.sort();
  EXPECT_EQ(table.scan({.by = Query::By::kTenant, .text = "acme"}),
            (std::vector<JobId>{JobId("job-2"), JobId("job-1"), JobId("job-0")}));
}

}  // namespace
}  // namespace fairlead::store
