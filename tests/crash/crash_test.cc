#include <gtest/gtest.h>

#include "tests/crash/crash_run.h"
#include "tests/crash/server_rounds.h"

namespace fairlead::crash {
namespace {

TEST(Crash, NothingAcknowledgedIsLostWhenTheProcessIsKilled) {
  CrashSummary summary = run(CRASH_PROGRAM, {.rounds = 6, .seed = 7});
  EXPECT_EQ(summary.fault, "") << "kept in " << summary.folder;
  EXPECT_GT(summary.changes, 0u);
}

TEST(Crash, NoAcceptedJobIsLostWhenAServerIsKilledUnderLoad) {
  ServerSummary summary = run_server_rounds({.rounds = 2, .seed = 7});
  EXPECT_EQ(summary.fault, "") << "kept in " << summary.folder;
  EXPECT_EQ(summary.killed, 2u) << "as often as was asked for";
  EXPECT_EQ(summary.stopped, 1u) << "and told to stop in between";
  EXPECT_GT(summary.accepted, 0u);
  EXPECT_GT(summary.own_runs, 0u);
}

}  // namespace
}  // namespace fairlead::crash
