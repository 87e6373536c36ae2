#include <gtest/gtest.h>

#include "tests/crash/crash_run.h"

namespace fairlead::crash {
namespace {

TEST(Crash, NothingAcknowledgedIsLostWhenTheProcessIsKilled) {
  CrashSummary summary = run(CRASH_PROGRAM, {.rounds = 6, .seed = 7});
  EXPECT_EQ(summary.fault, "") << "kept in " << summary.folder;
  EXPECT_GT(summary.changes, 0u);
}

}  // namespace
}  // namespace fairlead::crash
