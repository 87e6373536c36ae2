// The contract of what lies beside the jobs: messages, sequences, timers, dead letters, blobs,
// counters, and the retention of them all.
#pragma once

#include <map>
#include <set>

#include "base/breaker.h"
#include "store/contract/store_test.h"
#include "store/cursor.h"

namespace fairlead::store {

class BesideContract : public StoreTest {
 protected:
  // Once all that there is may be told.
  std::vector<StoredMessage> orphans(size_t limit = 100) {
    advance(limits::kOrphanAfter);
    return get(store().orphans(limits::kOrphanAfter, limit));
  }
  std::vector<StoredMessage> queued(size_t limit = 100) { return get(store().queued(limit)); }
  // Admits a job with a message on its way.
  Sequence send(const std::string& job) {
    Change change = admission(job);
    change.messages = {{"s", job, "", ""}};
    return apply<Applied>(std::move(change)).messages.front();
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
  // Behind an entry, if one is given.
  Ids dead_letters(const std::optional<DeadLetter>& behind = {}, size_t limit = 100) {
    Ids jobs;
    std::string cursor = behind ? to_cursor(position_of(*behind)) : "";
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
  auto found = queued();
  ASSERT_EQ(found.size(), 1u);
  EXPECT_TRUE(found[0].queued);
  EXPECT_EQ(found[0].sequence, sequence);
  EXPECT_EQ(found[0].message, (Message{"sys.job.submit", "bytes", "m", "scheduler"}));

  Change change = admission("a");
  change.consumed = sequence;
  apply<Applied>(std::move(change));
  EXPECT_TRUE(queued().empty());
}

TEST_P(BesideContract, AMessageStaysWhenTheChangeThatWouldConsumeItIsNotMade) {
  admit("a");
  Sequence sequence = get(store().enqueue({"sys.job.submit", "bytes", "m", "scheduler"}, now()));
  Change change = admission("a");
  change.consumed = sequence;
  apply<Conflict>(std::move(change));
  EXPECT_EQ(queued().size(), 1u);
}

TEST_P(BesideContract, OrphansAreThoseStoredAWhileAgoOldestFirst) {
  Sequence first = send("a");
  advance(1s);
  Sequence second = send("b");
  advance(limits::kOrphanAfter - 1s);
  Sequence third = send("c");
  auto found = get(store().orphans(limits::kOrphanAfter, 100));
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found[0].sequence, first);
  advance(1s);
  found = get(store().orphans(limits::kOrphanAfter, 100));
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found[0].sequence, second);
  found = orphans();
  ASSERT_EQ(found.size(), 3u);
  EXPECT_EQ(std::ranges::count(found, third, &StoredMessage::sequence), 1);
}

TEST_P(BesideContract, AnOrphanIsItsCallersForAWhileAndKeepsNoneFromItsTurn) {
  for (const char* job : {"a", "b", "c"}) send(job);
  std::set<Sequence> told;
  for (const StoredMessage& message : orphans(2)) told.insert(message.sequence);
  EXPECT_EQ(told.size(), 2u);
  auto found = get(store().orphans(limits::kOrphanAfter, 2));
  ASSERT_EQ(found.size(), 1u);
  EXPECT_FALSE(told.contains(found[0].sequence));
  EXPECT_TRUE(get(store().orphans(limits::kOrphanAfter, 2)).empty());
  WallTime stored = found[0].stored_at;
  found = orphans();
  EXPECT_EQ(found.size(), 3u);
  EXPECT_EQ(found[0].stored_at, stored) << "what it tells stays as it was";
}

TEST_P(BesideContract, QueuedMessagesDoNotStandInTheWayOfOrphansNorTheOtherWayRound) {
  Sequence first = get(store().enqueue({"s", "1", "", ""}, now()));
  Sequence second = get(store().enqueue({"s", "2", "", ""}, now()));
  Sequence sent = send("a");
  Sequence third = get(store().enqueue({"s", "3", "", ""}, now()));
  auto found = orphans(1);
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found[0].sequence, sent);
  EXPECT_EQ(orphans().size(), 1u);

  found = queued();
  ASSERT_EQ(found.size(), 3u);
  EXPECT_EQ(found[0].sequence, first);
  EXPECT_EQ(found[1].sequence, second);
  EXPECT_EQ(found[2].sequence, third);
  EXPECT_EQ(queued(2).size(), 2u);
  get(store().forget({first, sent}));
  EXPECT_TRUE(orphans().empty());
  EXPECT_EQ(queued().size(), 2u);
}

TEST_P(BesideContract, AMessageOfTheBusIsProcessedByTheChangeThatAnswersIt) {
  auto processed = [&](std::vector<std::string> marks) { return get(store().processed(marks)); };
  EXPECT_EQ(processed({}), std::vector<bool>{});
  EXPECT_EQ(processed({"durable:stream:1"}), std::vector<bool>{false});
  get(store().load(JobId("a"), {.mark = "durable:stream:1"}));
  EXPECT_EQ(processed({"durable:stream:1"}), std::vector<bool>{false});
  Change change = admission("a");
  change.mark = "durable:stream:1";
  apply<Applied>(std::move(change));
  EXPECT_EQ(processed({"durable:stream:2", "durable:stream:1", "another:stream:1"}),
            (std::vector<bool>{false, true, false}));

  change = admission("a");
  change.mark = "durable:stream:2";
  apply<Conflict>(std::move(change));
  EXPECT_EQ(processed({"durable:stream:2"}), std::vector<bool>{false});
  advance(limits::kProcessedTtl - 1s);
  EXPECT_EQ(processed({"durable:stream:1"}), std::vector<bool>{true});
  advance(1s);
  EXPECT_EQ(processed({"durable:stream:1"}), std::vector<bool>{false});
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
  std::map<std::string, DeadLetter> all;
  for (const char* job : {"a", "b", "c"}) {
    all[job] = letter(job);
    get(store().put_dead_letter(all[job]));
    advance(1s);
  }
  EXPECT_EQ(dead_letters({}, 2), (Ids{"c", "b"}));
  EXPECT_EQ(dead_letters(all["b"], 2), Ids{"a"});
  EXPECT_EQ(dead_letters(all["a"], 2), Ids{});
}

TEST_P(BesideContract, APageOfDeadLettersGoesOnWhereItEndedAlsoWhenThatEntryIsGone) {
  std::map<std::string, DeadLetter> all;
  for (const char* job : {"a", "b", "c", "d", "e"}) {
    all[job] = letter(job);
    get(store().put_dead_letter(all[job]));
    if (*job != 'b') advance(1ms);  // b and c are of one time
  }
  get(store().erase_dead_letter(JobId("d")));
  EXPECT_EQ(dead_letters(all["d"], 2), (Ids{"c", "b"}));
  get(store().erase_dead_letter(JobId("c")));
  EXPECT_EQ(dead_letters(all["c"], 2), (Ids{"b", "a"}));
  DeadLetter again = letter("b");
  get(store().put_dead_letter(again));
  EXPECT_EQ(dead_letters(all["b"]), Ids{"a"}) << "it has come again since";
}

TEST_P(BesideContract, ATimeIsACursorOfDeadLettersToo) {
  std::map<std::string, WallTime> put;
  for (const char* job : {"a", "b", "c"}) {
    put[job] = now();
    get(store().put_dead_letter(letter(job)));
    advance(1s);
  }
  auto entries = get(store().dead_letters(to_cursor({put["b"], {}, false}), 10));
  ASSERT_EQ(entries.size(), 2u);
  EXPECT_EQ(entries[0].job, JobId("b"));
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
  EXPECT_EQ(dead_letters({}, 1), Ids{std::to_string(limits::kDlqEntriesMax)});
}

// --- Blobs and counters --------------------------------------------------------------------------

TEST_P(BesideContract, ABlobIsReadAsItWasPut) {
  std::string bytes("\0\xff text", 7);
  EXPECT_TRUE(get(store().put_blob("ctx:a", {bytes, now() + 1h}, BlobCondition::kAlways)));
  auto blob = get(store().blob("ctx:a"));
  ASSERT_TRUE(blob);
  EXPECT_EQ(blob->bytes, bytes);
  // A server's clock has gone on by itself.
  ASSERT_TRUE(blob->expires);
  EXPECT_LE(*blob->expires, now() + 1h);
  EXPECT_GT(*blob->expires, now() + 59min);
  EXPECT_FALSE(get(store().blob("ctx:b")));
}

TEST_P(BesideContract, OfABlobAsMuchIsReadAsIsAskedFor) {
  get(store().put_blob("ctx:a", {"0123456789", std::nullopt}, BlobCondition::kAlways));
  get(store().put_blob("ctx:b", {"", std::nullopt}, BlobCondition::kAlways));
  auto head = get(store().blob("ctx:a", 4));
  ASSERT_TRUE(head);
  EXPECT_EQ(head->bytes, "0123");
  EXPECT_EQ(head->size, 10u);
  EXPECT_EQ(get(store().blob("ctx:a", 10))->bytes, "0123456789");
  EXPECT_EQ(get(store().blob("ctx:a", 11))->size, 10u);
  EXPECT_EQ(get(store().blob("ctx:a", 0))->bytes, "");
  EXPECT_EQ(get(store().blob("ctx:a", 0))->size, 10u);
  ASSERT_TRUE(get(store().blob("ctx:b", 4)));
  EXPECT_EQ(get(store().blob("ctx:b", 4))->size, 0u);
  EXPECT_FALSE(get(store().blob("ctx:c", 4)));
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

TEST_P(BesideContract, ABlobIsSwappedOnlyForTheOneThatIsExpected) {
  EXPECT_FALSE(get(store().swap_blob("k", "0", {"1", {}})));
  EXPECT_TRUE(get(store().swap_blob("k", std::nullopt, {"1", {}})));
  EXPECT_FALSE(get(store().swap_blob("k", std::nullopt, {"2", {}})));
  EXPECT_FALSE(get(store().swap_blob("k", "", {"2", {}})));
  EXPECT_EQ(get(store().blob("k"))->bytes, "1");
  EXPECT_TRUE(get(store().swap_blob("k", "1", {"2", now() + 1s})));
  EXPECT_EQ(get(store().blob("k"))->bytes, "2");
  advance(1s);
  EXPECT_FALSE(get(store().swap_blob("k", "2", {"3", {}})));
  EXPECT_TRUE(get(store().swap_blob("k", std::nullopt, {"", {}})));
  EXPECT_TRUE(get(store().swap_blob("k", "", {"4", {}})));
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

TEST_P(BesideContract, TheWorkersThatAreAliveAreReadAsTheyWerePut) {
  get(store().put_workers({"{}", now() + 24h}, {WorkerId("a"), WorkerId("b")}));
  get(store().put_workers({"{\"workers\":[]}", now() + 24h}, {}));
  EXPECT_EQ(get(store().blob(std::string(kWorkersKey)))->bytes, "{\"workers\":[]}");
}

// --- Breakers ------------------------------------------------------------------------------------

class BreakerContract : public StoreTest {
 protected:
  BreakerAnswer tell(BreakerEvent event, const std::string& name = "safety") {
    return get(store().breaker(name, event, now()));
  }
  bool admits() { return tell(BreakerEvent::kAsk).admitted; }
  void fail(int times) {
    for (int i = 0; i < times; ++i) tell(BreakerEvent::kFailure);
  }
};
GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(BreakerContract);

TEST_P(BreakerContract, OpensAtTheThirdFailureForAsLongAsItSays) {
  fail(2);
  EXPECT_TRUE(admits());
  EXPECT_EQ(tell(BreakerEvent::kAsk).open_until, std::nullopt);
  fail(1);
  EXPECT_FALSE(admits());
  EXPECT_EQ(tell(BreakerEvent::kAsk).open_until, now() + kBreakerOpenFor);
  advance(kBreakerOpenFor - 1s);
  EXPECT_FALSE(admits());
  advance(1s);
  EXPECT_TRUE(admits());
}

TEST_P(BreakerContract, ASuccessWhileClosedStartsTheCountAgain) {
  fail(2);
  tell(BreakerEvent::kSuccess);
  fail(2);
  EXPECT_TRUE(admits());
}

TEST_P(BreakerContract, HalfOpenItAdmitsThreeProbesOfAllTogetherAndClosesWithTwoSuccesses) {
  fail(3);
  advance(kBreakerOpenFor);
  for (int i = 0; i < kBreakerProbesMax; ++i) EXPECT_TRUE(admits());
  EXPECT_FALSE(admits());
  tell(BreakerEvent::kSuccess);
  EXPECT_TRUE(admits());
  EXPECT_EQ(tell(BreakerEvent::kSuccess).open_until, std::nullopt);
  for (int i = 0; i < 10; ++i) EXPECT_TRUE(admits());
  fail(2);
  EXPECT_TRUE(admits());
}

TEST_P(BreakerContract, HalfOpenOneFailureOpensItAgain) {
  fail(3);
  advance(kBreakerOpenFor);
  EXPECT_TRUE(admits());
  EXPECT_EQ(tell(BreakerEvent::kFailure).open_until, now() + kBreakerOpenFor);
  EXPECT_FALSE(admits());
}

TEST_P(BreakerContract, AProbeOfOneThatDiedDoesNotCountForEver) {
  fail(3);
  advance(kBreakerOpenFor);
  for (int i = 0; i < kBreakerProbesMax; ++i) EXPECT_TRUE(admits());
  advance(kBreakerOpenFor);
  EXPECT_TRUE(admits());
}

TEST_P(BreakerContract, BreakersOfOtherNamesAreOthers) {
  fail(3);
  EXPECT_TRUE(tell(BreakerEvent::kAsk, "safety:output").admitted);
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
  EXPECT_EQ(store().jobs_in(job::State::kSucceeded), 2u);
  EXPECT_EQ(retire_all(), 1u);
  EXPECT_EQ(load("a"), std::nullopt);
  EXPECT_EQ(ids({.only = {.tenant = "acme"}}), (Ids{"b", "live"}));
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
  // Ended jobs and dead letters are told; the others may have gone by themselves.
  size_t gone = 2 + retire_all();
  EXPECT_GE(gone, 6u);
  EXPECT_LE(gone, 8u);
  EXPECT_EQ(retire_all(), 0u);
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
