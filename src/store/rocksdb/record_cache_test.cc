#include "store/rocksdb/record_cache.h"

#include <gtest/gtest.h>

#include "base/limits.h"

namespace fairlead::store {
namespace {

constexpr size_t kLong = 100'000;

Snapshot record(int number, job::State state) {
  job::Record record;
  record.id = JobId("job-" + std::to_string(number));
  record.state = state;
  record.wait = job::Wait{job::ReasonCode::kNoWorkers, "", std::string(kLong, 'c'), {}, {}};
  return std::make_shared<const job::Record>(std::move(record));
}

TEST(RecordCache, HoldsNoMoreThanItsBytesHoweverLongTheTextsAre) {
  RecordCache cache;
  for (int i = 0; i < 200; ++i) cache.put(record(i, job::State::kPending), {}, 0);
  cache.trim(1);
  EXPECT_LE(cache.size(), limits::kRecordCacheBytesMax / kLong);
  EXPECT_GT(cache.size(), limits::kRecordCacheBytesMax / kLong / 2);
  EXPECT_TRUE(cache.find(JobId("job-199")));
  EXPECT_FALSE(cache.find(JobId("job-0")));
}

TEST(RecordCache, CountsTheRequestsThatItHolds) {
  RecordCache cache;
  for (int i = 0; i < 200; ++i) {
    job::Record plain;
    plain.id = JobId("job-" + std::to_string(i));
    cache.put(std::make_shared<const job::Record>(std::move(plain)), std::string(kLong, 'r'), 0);
  }
  cache.trim(1);
  EXPECT_LE(cache.size(), limits::kRecordCacheBytesMax / kLong);
}

TEST(RecordCache, KeepsWhatIsNotYetDurableHoweverMuch) {
  RecordCache cache;
  for (int i = 0; i < 200; ++i) cache.put(record(i, job::State::kPending), {}, 2);
  cache.trim(1);
  EXPECT_EQ(cache.size(), 200u);
  cache.trim(2);
  EXPECT_LT(cache.size(), 200u);
}

}  // namespace
}  // namespace fairlead::store
