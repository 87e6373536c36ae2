#include <gtest/gtest.h>

#include "tests/cluster/kill_round.h"

namespace fairlead::cluster {
namespace {

// `./dev crash --cluster` does the same with ten times as many.
void expect_promises_kept(bool jetstream, int replicas) {
  const KillOptions options{
      .jetstream = jetstream, .replicas = replicas, .jobs = 200, .in_flight = 100};
  const KillReport report = run_kill_round(options);
  EXPECT_EQ(broken_promise(options, report), "");
  EXPECT_GE(report.acknowledged, options.jobs);
}

TEST(Kill, OfTheOnlyReplicaCostsNoJobAndFewSeconds) {
  expect_promises_kept(true, 1);
}

TEST(Kill, OfOneReplicaOfThreeCostsNoJobAndFewSeconds) {
  expect_promises_kept(true, 3);
}

TEST(Kill, OfTheOnlyReplicaWithoutJetStreamCostsNoJobThatTheApiAcknowledged) {
  expect_promises_kept(false, 1);
}

TEST(Kill, OfOneReplicaOfThreeWithoutJetStreamCostsNoJobThatTheApiAcknowledged) {
  expect_promises_kept(false, 3);
}

TEST(Kill, ARoundThatBrokeAPromiseSaysWhich) {
  const KillReport well{.acknowledged = 9, .succeeded = 9, .longest_stall_s = 2};
  EXPECT_EQ(broken_promise({}, well), "");
  KillReport report = well;
  report.lost = 1;
  EXPECT_TRUE(broken_promise({}, report).starts_with("jobs were lost"));
  report = well;
  report.repeated_epochs = 1;
  EXPECT_TRUE(broken_promise({}, report).starts_with("epochs were handed out twice"));
  report = well;
  report.longest_stall_s = 16;
  EXPECT_TRUE(broken_promise({}, report).contains("stood still for too long"));
  report = well;
  report.succeeded = 8;
  report.results_lost = 1;
  EXPECT_TRUE(broken_promise({}, report).starts_with("not all succeeded"));
  EXPECT_EQ(broken_promise({.jetstream = false}, report), "");
}

}  // namespace
}  // namespace fairlead::cluster
