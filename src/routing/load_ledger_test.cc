#include "routing/load_ledger.h"

#include <gtest/gtest.h>

namespace fairlead::routing {

namespace {

LoadLedger::Beat hold_many(LoadLedger& ledger, int jobs) {
  LoadLedger::Beat since = 0;
  for (int i = 0; i < jobs; ++i) since = ledger.hold();
  return since;
}

void hear_many(LoadLedger& ledger, int heartbeats, int active) {
  for (int i = 0; i < heartbeats; ++i) ledger.heard(active);
}

}  // namespace

TEST(LoadLedger, CountsWhatIsReported) {
  LoadLedger ledger;
  ledger.heard(4);
  EXPECT_EQ(ledger.load(), 4);
  ledger.heard(2);
  EXPECT_EQ(ledger.load(), 2);
}

TEST(LoadLedger, AddsWhatWasHandedOverSinceTheLastReport) {
  LoadLedger ledger;
  ledger.heard(4);
  hold_many(ledger, 3);
  EXPECT_EQ(ledger.load(), 7);
}

TEST(LoadLedger, AReportConfirmsWhatWasHandedOverBefore) {
  LoadLedger ledger;
  ledger.heard(4);
  hold_many(ledger, 3);
  ledger.heard(6);
  EXPECT_EQ(ledger.load(), 6);
}

TEST(LoadLedger, IsNeverBelowWhatIsHeld) {
  LoadLedger ledger;
  hold_many(ledger, 3);
  ledger.heard(0);
  EXPECT_EQ(ledger.load(), 3);
}

TEST(LoadLedger, AJobThatEndsBeforeItIsReportedNeverCounted) {
  LoadLedger ledger;
  ledger.heard(2);
  auto since = ledger.hold();
  ledger.release(since);
  EXPECT_EQ(ledger.load(), 2);
}

TEST(LoadLedger, AReportedJobThatEndsFreesItsPlaceBeforeTheNextReport) {
  LoadLedger ledger;
  ledger.heard(0);
  auto since = hold_many(ledger, 3);
  ledger.heard(5);
  ledger.release(since);
  EXPECT_EQ(ledger.load(), 4);
  hold_many(ledger, 1);
  EXPECT_EQ(ledger.load(), 5);
}

TEST(LoadLedger, EndedJobsDoNotCancelJobsHandedOverSince) {
  LoadLedger ledger;
  auto since = hold_many(ledger, 3);
  ledger.heard(0);
  for (int i = 0; i < 3; ++i) ledger.release(since);
  hold_many(ledger, 1);
  EXPECT_EQ(ledger.load(), 1);
}

TEST(Ghosts, JobsHeldThroughThreeReportsThatMissThemNoLongerCount) {
  LoadLedger ledger;
  hold_many(ledger, 5);
  ledger.heard(5);
  hear_many(ledger, 2, 0);
  EXPECT_EQ(ledger.ghosts(), 0);
  ledger.heard(0);
  EXPECT_EQ(ledger.ghosts(), 5);
  EXPECT_EQ(ledger.load(), 0);
  EXPECT_EQ(ledger.held(), 5);
}

TEST(Ghosts, OnlyTheMissingOnesAre) {
  LoadLedger ledger;
  hold_many(ledger, 5);
  ledger.heard(5);
  hear_many(ledger, 3, 2);
  EXPECT_EQ(ledger.ghosts(), 3);
  EXPECT_EQ(ledger.load(), 2);
}

TEST(Ghosts, TheThreeReportsMustComeInARow) {
  LoadLedger ledger;
  hold_many(ledger, 2);
  ledger.heard(2);
  hear_many(ledger, 2, 0);
  ledger.heard(2);
  hear_many(ledger, 2, 0);
  EXPECT_EQ(ledger.ghosts(), 0);
  ledger.heard(0);
  EXPECT_EQ(ledger.ghosts(), 2);
}

TEST(Ghosts, AJobMustBeHeldSinceBeforeTheFirstOfTheThree) {
  LoadLedger ledger;
  ledger.heard(1);
  ledger.heard(0);
  hold_many(ledger, 1);
  hear_many(ledger, 2, 0);
  EXPECT_EQ(ledger.ghosts(), 0);
  ledger.heard(0);
  EXPECT_EQ(ledger.ghosts(), 1);
}

TEST(Ghosts, AWorkerThatNeverReportedAnyJobIsNotBelieved) {
  LoadLedger ledger;
  hold_many(ledger, 2);
  hear_many(ledger, 10, 0);
  EXPECT_EQ(ledger.ghosts(), 0);
  EXPECT_EQ(ledger.load(), 2);
}

TEST(Ghosts, AJobStartedBesideThemDoesNotBringThemBack) {
  LoadLedger ledger;
  hold_many(ledger, 1);
  ledger.heard(1);
  hear_many(ledger, 3, 0);
  auto since = ledger.hold();
  ledger.heard(1);
  EXPECT_EQ(ledger.ghosts(), 1);
  EXPECT_EQ(ledger.load(), 1);
  ledger.release(since);
  EXPECT_EQ(ledger.load(), 0);
}

TEST(Ghosts, AReportThatCountsThemBringsThemBack) {
  LoadLedger ledger;
  hold_many(ledger, 5);
  ledger.heard(5);
  hear_many(ledger, 3, 0);
  ledger.heard(4);
  EXPECT_EQ(ledger.ghosts(), 1);
  EXPECT_EQ(ledger.load(), 4);
}

TEST(Ghosts, AreNotMoreThanTheJobsHeldThatLong) {
  LoadLedger ledger;
  auto since = hold_many(ledger, 2);
  ledger.heard(2);
  hear_many(ledger, 3, 0);
  ledger.release(since);
  EXPECT_EQ(ledger.ghosts(), 1);
  ledger.release(since);
  EXPECT_EQ(ledger.ghosts(), 0);
  EXPECT_EQ(ledger.load(), 0);
}

TEST(Ghosts, ASilenceBreaksTheRow) {
  LoadLedger ledger;
  hold_many(ledger, 2);
  ledger.heard(2);
  hear_many(ledger, 3, 0);
  ledger.lost();
  EXPECT_EQ(ledger.ghosts(), 0);
  hear_many(ledger, 2, 0);
  EXPECT_EQ(ledger.ghosts(), 0);
  ledger.heard(0);
  EXPECT_EQ(ledger.ghosts(), 2);
}

}  // namespace fairlead::routing
