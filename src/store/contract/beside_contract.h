// The contract of what lies beside the jobs: messages, sequences, timers, dead letters, blobs,
// counters, and the retention of them all.
#pragma once

#include "store/contract/store_test.h"

namespace fairlead::store {

class BesideContract : public StoreTest {
 protected:
  std::vector<StoredMessage> orphans(WallTime before = WallTime::max(), size_t limit = 100) {
    return get(store().orphans(before, limit));
  }
  Ids due_timers(size_t limit = 100) {
    Ids keys;
    for (const Timer& timer : get(store().due_timers(now(), limit))) keys.push_back(timer.key);
    return keys;
  }
  DeadLetter letter(const std::string& job) const {
    return {JobId(job),  Topic("job.test"), TenantId("acme"), "JOB_STATUS_FAILED",
            "it failed", "dispatch_failed", "RUNNING",        3,
            now()};
  }
  Ids dead_letters(const std::string& cursor = "", size_t limit = 100) {
    Ids jobs;
    for (const DeadLetter& entry : get(store().dead_letters(cursor, limit))) {
      jobs.push_back(entry.job.str());
    }
    return jobs;
  }
  size_t retire_all() {
    size_t gone = 0;
    while (size_t some = get(store().retire(now(), 2))) gone += some;
    return gone;
  }
};
GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(BesideContract);

// --- Messages ------------------------------------------------------------------------------------

TEST_P(BesideContract, MessagesOfACommitAreOnTheWayUntilForgotten) {
  Change change = admission("a");
  change.messages = {{"first", "1", "id-1", ""}, {"second", "2", "", ""}};
  Applied applied = apply<Applied>(std::move(change));
  ASSERT_EQ(applied.messages.size(), 2u);
  EXPECT_LT(applied.messages[0], applied.messages[1]);

  auto found = orphans();
  ASSERT_EQ(found.size(), 2u);
  EXPECT_EQ(found[0].sequence, applied.messages[0]);
  EXPECT_EQ(found[0].message, (Message{"first", "1", "id-1", ""}));
  EXPECT_FALSE(found[0].queued);
  EXPECT_EQ(found[1].message, (Message{"second", "2", "", ""}));

  get(store().forget({applied.messages[0]}));
  found = orphans();
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found[0].sequence, applied.messages[1]);
}

TEST_P(BesideContract, AQueuedMessageIsConsumedByTheChangeItCauses) {
  Sequence sequence = get(store().enqueue({"sys.job.submit", "bytes", "m", "scheduler"}, now()));
  auto found = orphans();
  ASSERT_EQ(found.size(), 1u);
  EXPECT_TRUE(found[0].queued);
  EXPECT_EQ(found[0].sequence, sequence);
  EXPECT_EQ(found[0].message, (Message{"sys.job.submit", "bytes", "m", "scheduler"}));

  Change change = admission("a");
  change.consumed = sequence;
  apply<Applied>(std::move(change));
  EXPECT_TRUE(orphans().empty());
}

TEST_P(BesideContract, AMessageStaysWhenTheChangeThatWouldConsumeItIsNotMade) {
  admit("a");
  Sequence sequence = get(store().enqueue({"sys.job.submit", "bytes", "m", "scheduler"}, now()));
  Change change = admission("a");
  change.consumed = sequence;
  apply<Conflict>(std::move(change));
  EXPECT_EQ(orphans().size(), 1u);
}

TEST_P(BesideContract, OrphansAreThoseStoredBeforeATimeOldestFirst) {
  Sequence first = get(store().enqueue({"s", "1", "", ""}, now()));
  advance(1s);
  Sequence second = get(store().enqueue({"s", "2", "", ""}, now()));
  advance(1s);
  get(store().enqueue({"s", "3", "", ""}, now()));
  auto found = orphans(now());
  ASSERT_EQ(found.size(), 2u);
  EXPECT_EQ(found[0].sequence, first);
  EXPECT_EQ(found[1].sequence, second);
  EXPECT_EQ(orphans(now(), 1).size(), 1u);
}

TEST_P(BesideContract, ForgettingWhatIsGoneDoesNothing) {
  get(store().forget({Sequence(12345)}));
  get(store().forget({}));
}

TEST_P(BesideContract, ReservedSequencesAreNobodyElses) {
  Sequence before = get(store().enqueue({"s", "", "", ""}, now()));
  Sequence first = get(store().reserve_sequences(1000));
  Sequence after = get(store().enqueue({"s", "", "", ""}, now()));
  EXPECT_GT(first, before);
  EXPECT_GE(after.value(), first.value() + 1000);
}

// --- Timers --------------------------------------------------------------------------------------

TEST_P(BesideContract, TimersOfACommitAreDueInOrderOfTheirTimes) {
  Change change = admission("a");
  change.timers = {{"late", now() + 2s, "2"}, {"early", now() + 1s, "1"}};
  apply<Applied>(std::move(change));
  EXPECT_EQ(due_timers(), Ids{});
  advance(1s);
  EXPECT_EQ(get(store().due_timers(now(), 10)), (std::vector<Timer>{{"early", now(), "1"}}));
  advance(1s);
  EXPECT_EQ(due_timers(), (Ids{"early", "late"}));
  EXPECT_EQ(due_timers(1), Ids{"early"});
}

TEST_P(BesideContract, ATimerIsReplacedByOneOfItsKeyAndRemovedByTheCommitThatActs) {
  Change change = admission("a");
  change.timers = {{"t", now(), ""}, {"u", now(), ""}};
  apply<Applied>(std::move(change));
  change = this->change("a", job::State::kScheduled);
  change.timers = {{"t", now() + 5s, "again"}};
  change.timers_done = {"u", "never set"};
  apply<Applied>(std::move(change));
  EXPECT_EQ(due_timers(), Ids{});
  advance(5s);
  EXPECT_EQ(get(store().due_timers(now(), 10)), (std::vector<Timer>{{"t", now(), "again"}}));
}

TEST_P(BesideContract, ReadsSeeExactlyTheCallsBeforeThem) {
  Change change = admission("a");
  change.timers = {{"t", now(), ""}};
  auto set = store().apply(std::move(change));
  auto seen = store().due_timers(now(), 10);
  change = this->change(fresh("a"), job::State::kScheduled);
  change.guard.revision = Revision(1);
  change.timers_done = {"t"};
  auto done = store().apply(std::move(change));
  auto unseen = store().due_timers(now(), 10);
  EXPECT_EQ(get(std::move(seen)).size(), 1u);
  EXPECT_EQ(get(std::move(unseen)).size(), 0u);
}

// --- Dead letters --------------------------------------------------------------------------------

TEST_P(BesideContract, ADeadLetterComesWithTheCommit) {
  admit("a");
  Change change = this->change("a", job::State::kFailed);
  change.dead_letter = letter("a");
  apply<Applied>(std::move(change));
  EXPECT_EQ(get(store().dead_letter(JobId("a"))), letter("a"));
  EXPECT_EQ(get(store().dead_letter(JobId("b"))), std::nullopt);
}

TEST_P(BesideContract, ALaterDeadLetterOfAJobReplacesTheEarlier) {
  get(store().put_dead_letter(letter("a")));
  get(store().put_dead_letter(letter("b")));
  advance(1s);
  DeadLetter later = letter("a");
  later.reason = "again";
  get(store().put_dead_letter(later));
  EXPECT_EQ(get(store().dead_letter(JobId("a"))), later);
  EXPECT_EQ(dead_letters(), (Ids{"a", "b"}));
}

TEST_P(BesideContract, DeadLettersAreListedLatestFirstPageByPage) {
  for (const char* job : {"a", "b", "c"}) {
    get(store().put_dead_letter(letter(job)));
    advance(1s);
  }
  EXPECT_EQ(dead_letters("", 2), (Ids{"c", "b"}));
  EXPECT_EQ(dead_letters("b", 2), Ids{"a"});
}

TEST_P(BesideContract, ADeadLetterIsErasedOnce) {
  get(store().put_dead_letter(letter("a")));
  EXPECT_TRUE(get(store().erase_dead_letter(JobId("a"))));
  EXPECT_FALSE(get(store().erase_dead_letter(JobId("a"))));
  EXPECT_EQ(dead_letters(), Ids{});
}

TEST_P(BesideContract, TheOldestDeadLettersMakeRoomForNewOnes) {
  for (size_t i = 0; i <= limits::kDlqEntriesMax; ++i) {
    auto dropped = store().put_dead_letter(letter(std::to_string(i)));
    clock_.advance(1ms);
  }
  EXPECT_EQ(get(store().dead_letter(JobId("0"))), std::nullopt);
  EXPECT_NE(get(store().dead_letter(JobId("1"))), std::nullopt);
  EXPECT_EQ(dead_letters("", 1), Ids{std::to_string(limits::kDlqEntriesMax)});
}

// --- Blobs and counters --------------------------------------------------------------------------

TEST_P(BesideContract, ABlobIsReadAsItWasPut) {
  std::string bytes("\0\xff text", 7);
  EXPECT_TRUE(get(store().put_blob("ctx:a", {bytes, now() + 1h}, BlobCondition::kAlways)));
  auto blob = get(store().blob("ctx:a"));
  ASSERT_TRUE(blob);
  EXPECT_EQ(blob->bytes, bytes);
  EXPECT_EQ(blob->expires, now() + 1h);
  EXPECT_FALSE(get(store().blob("ctx:b")));
}

TEST_P(BesideContract, ABlobIsGoneWhenItsTimeHasCome) {
  get(store().put_blob("ctx:a", {"bytes", now() + 1s}, BlobCondition::kAlways));
  advance(1s);
  EXPECT_FALSE(get(store().blob("ctx:a")));
  EXPECT_FALSE(get(store().erase_blob("ctx:a")));
}

TEST_P(BesideContract, ABlobWithoutATimeStays) {
  get(store().put_blob("ctx:a", {"bytes", std::nullopt}, BlobCondition::kAlways));
  advance(24h * 365);
  retire_all();
  EXPECT_TRUE(get(store().blob("ctx:a")));
}

TEST_P(BesideContract, ABlobCanBePutOnlyWhereThereIsNoneOrOne) {
  EXPECT_FALSE(get(store().put_blob("k", {"1", {}}, BlobCondition::kIfPresent)));
  EXPECT_FALSE(get(store().blob("k")));
  EXPECT_TRUE(get(store().put_blob("k", {"2", {}}, BlobCondition::kIfAbsent)));
  EXPECT_FALSE(get(store().put_blob("k", {"3", {}}, BlobCondition::kIfAbsent)));
  EXPECT_EQ(get(store().blob("k"))->bytes, "2");
  EXPECT_TRUE(get(store().put_blob("k", {"4", now() + 1s}, BlobCondition::kIfPresent)));
  EXPECT_EQ(get(store().blob("k"))->bytes, "4");
  advance(1s);
  EXPECT_TRUE(get(store().put_blob("k", {"5", {}}, BlobCondition::kIfAbsent)));
}

TEST_P(BesideContract, ABlobIsErasedOnce) {
  get(store().put_blob("k", {"1", {}}, BlobCondition::kAlways));
  EXPECT_TRUE(get(store().erase_blob("k")));
  EXPECT_FALSE(get(store().erase_blob("k")));
  EXPECT_FALSE(get(store().blob("k")));
}

TEST_P(BesideContract, ACounterTellsItsNewValue) {
  EXPECT_EQ(get(store().add("c", 2)), 2);
  EXPECT_EQ(get(store().add("c", -5)), -3);
  EXPECT_EQ(get(store().add("d", 1)), 1);
  EXPECT_EQ(get(store().add("c", 0)), -3);
}

// --- Retention -----------------------------------------------------------------------------------

TEST_P(BesideContract, AnEndedJobIsRetiredWithAllThatBelongsToIt) {
  for (const char* id : {"a", "b", "live"}) {
    Change change = admission(id);
    change.next->trace = TraceId("t");
    change.request = "bytes";
    apply<Applied>(std::move(change));
  }
  end("a");
  advance(1s);
  end("b");
  advance(limits::kEndedJobTtl - 1s);
  EXPECT_EQ(retire_all(), 1u);
  EXPECT_EQ(load("a"), std::nullopt);
  EXPECT_EQ(request("a"), "");
  EXPECT_EQ(ids({.by = Query::By::kTrace, .text = "t"}), (Ids{"b", "live"}));
  EXPECT_EQ(ids({.by = Query::By::kEnded}), Ids{"b"});
  EXPECT_EQ(request("b"), "bytes");
  admit("a");
}

TEST_P(BesideContract, LiveJobsAreNeverRetired) {
  admit("a");
  advance(24h * 1000);
  EXPECT_EQ(retire_all(), 0u);
  EXPECT_TRUE(load("a"));
}

TEST_P(BesideContract, RetirementIsDoneInPiecesUntilNothingIsLeft) {
  for (int i = 0; i < 5; ++i) {
    admit(std::to_string(i));
    end(std::to_string(i));
  }
  get(store().put_dead_letter(letter("x")));
  get(store().put_blob("k", {"", now() + 1s}, BlobCondition::kAlways));
  job::Record record = fresh("keyed");
  record.idempotency_key = "key";
  apply<Applied>(admission(record));
  advance(24h * 1000);
  EXPECT_LE(get(store().retire(now(), 2)), 2u);
  EXPECT_EQ(2 + retire_all(), 8u);
  EXPECT_EQ(ids({.by = Query::By::kEnded}), Ids{});
  EXPECT_EQ(get(store().dead_letter(JobId("x"))), std::nullopt);
  EXPECT_FALSE(get(store().blob("k")));
}

TEST_P(BesideContract, ABlobThatWasPutAgainOutlivesItsFirstTime) {
  get(store().put_blob("k", {"1", now() + 1s}, BlobCondition::kAlways));
  get(store().put_blob("k", {"2", now() + 1h}, BlobCondition::kAlways));
  advance(1s);
  retire_all();
  EXPECT_EQ(get(store().blob("k"))->bytes, "2");
}

TEST_P(BesideContract, AQuarantinedJobIsRetiredAfterItsLastChange) {
  admit("a");
  end("a");
  advance(limits::kEndedJobTtl - 1s);
  apply<Applied>(change("a", job::State::kOutputQuarantined));
  advance(1s);
  EXPECT_EQ(retire_all(), 0u);
  EXPECT_TRUE(load("a"));
}

}  // namespace fairlead::store
