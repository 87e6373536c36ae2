#include "store/rocksdb/puts.h"

#include <gtest/gtest.h>

#include "job/codec.h"
#include "store/rocksdb/database.h"

namespace fairlead::store {
namespace {

// What the commit queue is bounded by must not be far from what is written.
TEST(Puts, BytesOfARecordAreAboutThoseOfItsStoredForm) {
  job::Record small;
  small.id = JobId("job");
  job::Record large = small;
  large.wait = job::Wait{job::ReasonCode::kNoWorkers, "", std::string(60'000, 'c'), {}, {}};
  for (int i = 0; i < 100; ++i) job::add_event(large, WallTime(), std::string(1000, 'n'));
  for (const job::Record& record : {small, large}) {
    size_t written = job::encode(record).size();
    Puts puts;
    puts.put(Family::kLive, std::make_shared<const job::Record>(record));
    EXPECT_GE(puts.bytes(), written);
    EXPECT_LE(puts.bytes(), written * 11 / 10 + 512);
  }
}

}  // namespace
}  // namespace fairlead::store
