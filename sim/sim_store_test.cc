#include "sim/sim_store.h"

#include <string>

#include <gtest/gtest.h>

#include "sim/faulty_store.h"
#include "sim/process.h"

namespace fairlead::sim {
namespace {

using namespace std::chrono_literals;

class SimStoreTest : public testing::Test {
 protected:
  void put(const std::string& key) {
    auto put = [key](store::MemoryStore& store) {
      return answer_now(store.put_blob(key, {"bytes", {}}, store::BlobCondition::kAlways));
    };
    ASSERT_TRUE(store_.run<bool>(put));
  }
  bool acquire(const std::string& token) {
    return *store_.run<bool>([token](store::MemoryStore& store) {
      return answer_now(store.acquire("lease", {token, 10s}));
    });
  }
  bool has(const std::string& key) { return answer_now(store_->blob(key))->has_value(); }

  SimulatedLoop loop_;
  Process clock_{loop_, "store", Duration(0)};
  SimStore store_{clock_, true};
};

TEST_F(SimStoreTest, AFailoverLosesWhatWasDoneLastAndNothingElse) {
  put("early");
  loop_.run_for(2s);
  put("late");
  const uint64_t first = store_.server();
  store_.fail_over(1s);
  EXPECT_TRUE(has("early"));
  EXPECT_FALSE(has("late"));
  EXPECT_NE(store_.server(), first);
  EXPECT_EQ(store_.rewound_at(), clock_.wall());
  // What was lost stays so.
  loop_.run_for(5s);
  store_.fail_over(1s);
  EXPECT_TRUE(has("early"));
  EXPECT_FALSE(has("late"));
}

TEST_F(SimStoreTest, EachLossIsLaterThanTheOneBefore) {
  store_.fail_over(1s);
  const WallTime first = store_.rewound_at();
  clock_.step_clock(-1h);
  store_.fail_over(1s);
  EXPECT_GT(store_.rewound_at(), first);
}

TEST_F(SimStoreTest, ALeaseThatWasTakenBeforeRunsOutWhenItWouldHave) {
  ASSERT_TRUE(acquire("one"));
  loop_.run_for(6s);
  store_.fail_over(1s);
  EXPECT_FALSE(acquire("another"));
  loop_.run_for(5s);
  EXPECT_TRUE(acquire("another"));
}

}  // namespace
}  // namespace fairlead::sim
