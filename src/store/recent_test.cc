#include "store/recent.h"

#include <gtest/gtest.h>

namespace fairlead::store {
namespace {

WallTime at(int seconds) {
  return WallTime(std::chrono::seconds(seconds));
}

job::Record record(const char* id, int seconds, job::State state) {
  job::Record made;
  made.id = JobId(id);
  made.updated_at = at(seconds);
  made.state = state;
  return made;
}
job::Record live(const char* id, int seconds) {
  return record(id, seconds, job::State::kPending);
}
job::Record ended(const char* id, int seconds) {
  return record(id, seconds, job::State::kFailed);
}

std::string ids(const Page& page) {
  std::string all;
  for (const job::Record& one : page.records) all += one.id.str();
  return all;
}

TEST(MergeRecent, TellsTheLatestFirstAndOfOneTimeTheLiveOnes) {
  Page page = merge_recent({{live("a", 9), live("b", 5)}, 2, {}}, {{ended("c", 9)}, 1, {}}, 10);
  EXPECT_EQ(ids(page), "acb");
  EXPECT_EQ(page.next, "");
  EXPECT_EQ(page.visited, 3u);
}

TEST(MergeRecent, WhatIsBehindAPartThatStoppedHasToWait) {
  Position stopped{at(5), "x", false};
  Page page = merge_recent({{live("a", 9)}, 100, stopped},
                           {{ended("b", 7), ended("c", 5), ended("d", 3)}, 3, {}}, 10);
  EXPECT_EQ(ids(page), "ab");
  EXPECT_EQ(parse_cursor(page.next), stopped);

  stopped = {at(5), "x", true};
  page = merge_recent({{live("a", 5), live("b", 4)}, 2, {}}, {{}, 100, stopped}, 10);
  EXPECT_EQ(ids(page), "a");
  EXPECT_EQ(parse_cursor(page.next), stopped);
}

TEST(MergeRecent, GoesOnFromTheFirstPlaceWhereAPartStopped) {
  Position early{at(8), "x", true};
  Position late{at(2), "y", false};
  Page page = merge_recent({{live("a", 9), live("b", 3)}, 2, late}, {{}, 2, early}, 10);
  EXPECT_EQ(ids(page), "a");
  EXPECT_EQ(parse_cursor(page.next), early);
}

TEST(MergeRecent, AFullPageGoesOnBehindItsLastRecord) {
  Page page = merge_recent({{live("a", 9), live("b", 3)}, 2, {}}, {{ended("c", 5)}, 1, {}}, 2);
  EXPECT_EQ(ids(page), "ac");
  EXPECT_EQ(parse_cursor(page.next), (Position{at(5), "c", true}));
}

}  // namespace
}  // namespace fairlead::store
