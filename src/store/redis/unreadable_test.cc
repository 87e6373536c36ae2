// What somebody else wrote, or a program that is not made yet, stands in nobody's way.
#include <algorithm>

#include <gmock/gmock.h>

#include "store/redis/store_walk_fixture.h"

namespace fairlead::store::redis {
namespace {

using By = Query::By;

class Unreadable : public WalkTest {
 protected:
  std::vector<std::string> found(Query query) {
    std::vector<std::string> jobs;
    for (const job::Record& record : get(store_->scan(std::move(query))).records) {
      jobs.push_back(record.id.str());
    }
    std::ranges::sort(jobs);
    return jobs;
  }
  void spoil(const std::string& job, const std::string& field, const std::string& value) {
    server().ask({"HSET", "job:meta:" + job, field, value});
  }
  // Due, overdue, not known to be published.
  void expect_others_found() {
    const testing::Matcher<std::vector<std::string>> others = testing::ElementsAre("b", "c");
    clock_.advance(1h);
    EXPECT_THAT(found({.by = By::kState, .text = "DISPATCHED"}), others);
    EXPECT_THAT(found({.by = By::kRecent}), others);
    EXPECT_THAT(found({.by = By::kWorker, .text = "w"}), others);
    EXPECT_THAT(found({.by = By::kTenant, .text = "acme"}), others);
    EXPECT_THAT(found({.by = By::kTrace, .text = "trace"}), others);
    EXPECT_THAT(found({.by = By::kDue}), others);
    EXPECT_THAT(found({.by = By::kDeadline}), others);
    EXPECT_THAT(found({.by = By::kUnpublished, .age = 1s}), others);
    EXPECT_TRUE(get(store_->queues()).complete);
    get(store_->retire(clock_.wall(), 100));
  }
  void dispatch_all(const std::vector<std::string>& jobs) {
    for (const std::string& job : jobs) apply<Applied>(dispatch(request(job)));
  }
};

TEST_F(Unreadable, ARecordHidesNoOtherJob) {
  dispatch_all({"a", "b", "c"});
  spoil("a", "fl_rec", "garbage");
  expect_others_found();
  EXPECT_FALSE(loop_.wait(store_->load(JobId("a"), {}))) << "who asks for it is told";
}

TEST_F(Unreadable, AStateThatIsNotKnownHidesNoOtherJob) {
  dispatch_all({"a", "b", "c"});
  server().ask({"HDEL", "job:meta:a", "fl_rec"});
  spoil("a", "state", "RESTING");
  expect_others_found();
}

TEST_F(Unreadable, FieldsThatMakeNoSenseHideNoOtherJob) {
  dispatch_all({"a", "b", "c"});
  spoil("a", "fl_rec", "garbage");
  spoil("a", "fl_places", "garbage");
  spoil("a", "updated_at", "yesterday");
  spoil("a", "fl_rev", "first");
  spoil("a", "state", "SCHEDULED");
  expect_others_found();
}

TEST_F(Unreadable, WhatIsNoJobAtAllHidesNone) {
  dispatch_all({"a", "b", "c"});
  server().ask({"SET", "job:meta:a", "garbage"});
  expect_others_found();
}

TEST_F(Unreadable, AsManyAsAPageHoldsHideNobodyBehindThem) {
  dispatch_all({"a1", "a2", "a3"});
  clock_.advance(1s);
  dispatch_all({"b"});
  for (const char* job : {"a1", "a2", "a3"}) spoil(job, "fl_rec", "garbage");
  clock_.advance(1h);
  const Query due{.by = By::kDue, .limit = 3};
  (void)found(due);
  EXPECT_THAT(found(due), testing::ElementsAre("b"));
}

TEST_F(Unreadable, ADeadLetterIsShownAsSuchBesideTheOthers) {
  for (const char* job : {"a", "b"}) {
    DeadLetter letter;
    letter.job = JobId(job);
    letter.created_at = clock_.wall();
    get(store_->put_dead_letter(letter));
    clock_.advance(1s);
  }
  server().ask({"SET", "dlq:entry:a", "garbage"});
  const std::vector<DeadLetter> letters = get(store_->dead_letters({}, 10));
  ASSERT_EQ(letters.size(), 2u);
  EXPECT_EQ(letters[0].job.str(), "b");
  EXPECT_EQ(letters[1].job.str(), "a");
  EXPECT_THAT(letters[1].reason, testing::HasSubstr("no JSON"));
  EXPECT_TRUE(get(store_->dead_letter(JobId("a"))));
  EXPECT_TRUE(get(store_->erase_dead_letter(JobId("a"))));
}

TEST_F(Unreadable, AMessageHoldsUpNoOther) {
  get(store_->enqueue({.subject = "s", .payload = "first"}, clock_.wall()));
  const Sequence second =
      get(store_->enqueue({.subject = "s", .payload = "second"}, clock_.wall()));
  server().ask({"HSET", "fairlead:messages",
                server().ask({"ZRANGE", "fairlead:queue", "0", "0"}).texts().front(), "garbage"});
  const std::vector<StoredMessage> queued = get(store_->queued(10));
  ASSERT_EQ(queued.size(), 1u);
  EXPECT_EQ(queued.front().sequence, second);
}

}  // namespace
}  // namespace fairlead::store::redis
