// What is RocksDB's own: how much is written, what is synced when, and what happens when the disk
// is slow, full or broken.
#include "store/rocksdb/rocks_store.h"

#include "store/contract/store_test.h"
#include "store/rocksdb/test_disk.h"

namespace fairlead::store {
namespace {

class RocksStoreTest : public testing::Test {
 protected:
  RocksStoreTest() { open(); }

  void open() {
    store_.reset();
    options_.path = folder_.inside("data");
    options_.env = disk_->env();
    auto store = RocksStore::open(options_, loop_, clock_);
    ASSERT_TRUE(store) << store.error().message;
    store_ = *std::move(store);
  }

  Change admission(const std::string& id) const {
    Change change;
    change.next->id = JobId(id);
    change.next->tenant = TenantId("acme");
    change.next->created_at = change.next->updated_at = clock_.wall();
    change.path = {job::State::kPending};
    return change;
  }
  Change change(const std::string& id, uint64_t revision, job::State state) const {
    Change change = admission(id);
    change.guard.revision = Revision(revision);
    change.next->state = state;
    change.path = {state};
    return change;
  }
  void apply(Change change) {
    auto receipt = loop_.wait(store_->apply(std::move(change)));
    ASSERT_TRUE(receipt) << receipt.error().message;
    ASSERT_TRUE(std::holds_alternative<Applied>(*receipt));
  }
  uint64_t puts_of(Change change) {
    uint64_t before = store_->statistics().puts;
    apply(std::move(change));
    return store_->statistics().puts - before;
  }

  // An answer that somebody waits for.
  template <class T>
  struct Awaited {
    std::optional<Result<T>> value;
    Nursery nursery;
  };
  template <class T>
  std::unique_ptr<Awaited<T>> await(Answer<T> answer) {
    auto awaited = std::make_unique<Awaited<T>>();
    awaited->nursery.spawn(keep(std::move(answer), awaited->value));
    return awaited;
  }
  template <class T>
  static Task<void> keep(Answer<T> answer, std::optional<Result<T>>& into) {
    into.emplace(co_await answer);
  }

  std::shared_ptr<TestDisk> disk_ = TestDisk::make();
  TemporaryFolder folder_;
  PumpLoop loop_;
  ManualClock clock_;
  RocksOptions options_;
  std::unique_ptr<RocksStore> store_;
};

TEST_F(RocksStoreTest, ATransitionOfALiveJobIsOnePut) {
  Change admitted = admission("a");
  admitted.request = "bytes";
  EXPECT_EQ(puts_of(std::move(admitted)), 2u);
  EXPECT_EQ(puts_of(change("a", 1, job::State::kScheduled)), 1u);
  EXPECT_EQ(puts_of(change("a", 2, job::State::kDispatched)), 1u);
  EXPECT_EQ(puts_of(change("a", 3, job::State::kRunning)), 1u);
  Change ended = change("a", 4, job::State::kSucceeded);
  ended.next->assignee = WorkerId("w");
  EXPECT_EQ(puts_of(std::move(ended)), 6u)
      << "gone here and there now, in three indexes, and counted";
}

TEST_F(RocksStoreTest, ChangesOfOneTurnShareOneSync) {
  uint64_t syncs = disk_->log_syncs();
  auto last = store_->apply(admission("last but first"));
  for (size_t i = 2; i < limits::kHandOverEarly; ++i) {
    auto dropped = store_->apply(admission(std::to_string(i)));
  }
  ASSERT_TRUE(loop_.wait(std::move(last)));
  EXPECT_EQ(disk_->log_syncs() - syncs, 1u);
}

TEST_F(RocksStoreTest, AChangeThatNobodyWaitsForGoesToTheDiskWithTheNext) {
  apply(admission("a"));
  uint64_t syncs = disk_->log_syncs();
  Change scheduled = change("a", 1, job::State::kScheduled);
  scheduled.may_be_put_off = true;
  auto put_off = await(store_->apply(std::move(scheduled)));
  loop_.run_ready();
  EXPECT_EQ(store_->outstanding(), 0u) << "it is not on its way";
  apply(admission("b"));
  EXPECT_TRUE(put_off->value.has_value());
  EXPECT_EQ(disk_->log_syncs() - syncs, 1u);
}

TEST_F(RocksStoreTest, AChangeThatNobodyWaitsForGoesToTheDiskSoon) {
  apply(admission("a"));
  Change scheduled = change("a", 1, job::State::kScheduled);
  scheduled.may_be_put_off = true;
  auto put_off = await(store_->apply(std::move(scheduled)));
  loop_.run_ready();
  EXPECT_FALSE(put_off->value.has_value());
  loop_.advance(limits::kCommitPutOffMax);
  loop_.run_until([&] { return put_off->value.has_value(); });
}

TEST_F(RocksStoreTest, WhoAsksForAJobMakesItsChangeGoToTheDisk) {
  apply(admission("a"));
  Change scheduled = change("a", 1, job::State::kScheduled);
  scheduled.may_be_put_off = true;
  auto put_off = await(store_->apply(std::move(scheduled)));
  auto loaded = loop_.wait(store_->load(JobId("a"), {}));
  ASSERT_TRUE(loaded);
  EXPECT_EQ(loaded->record->state, job::State::kScheduled);
  EXPECT_FALSE(loaded->ahead);
  EXPECT_TRUE(put_off->value.has_value());
}

TEST_F(RocksStoreTest, ALoadAheadDoesNotWaitForTheDisk) {
  apply(admission("a"));
  EXPECT_FALSE(store_->load(JobId("a"), {.ahead = true}).await_resume()->ahead) << "it is durable";
  disk_->hold_log_syncs(true);
  auto applied = await(store_->apply(change("a", 1, job::State::kScheduled)));
  auto behind = await(store_->load(JobId("a"), {}));
  auto ahead = await(store_->load(JobId("a"), {.ahead = true}));
  ASSERT_TRUE(ahead->value.has_value());
  EXPECT_EQ((*ahead->value)->record->state, job::State::kScheduled);
  EXPECT_TRUE((*ahead->value)->ahead);
  EXPECT_FALSE(behind->value.has_value());
  disk_->hold_log_syncs(false);
  loop_.run_until([&] { return behind->value.has_value(); });
}

TEST_F(RocksStoreTest, WhileOneSyncRunsTheNextBatchForms) {
  uint64_t syncs = disk_->log_syncs();
  disk_->hold_log_syncs(true);
  auto first = await(store_->apply(admission("first")));
  loop_.run_ready();
  disk_->wait_for_held_sync();
  for (int turn = 0; turn < 10; ++turn) {
    auto dropped = store_->apply(admission(std::to_string(turn)));
    loop_.run_ready();
  }
  auto last = store_->apply(admission("last"));
  loop_.run_ready();  // handed over before the sync that runs can end
  disk_->hold_log_syncs(false);
  ASSERT_TRUE(loop_.wait(std::move(last)));
  EXPECT_EQ(disk_->log_syncs() - syncs, 2u);
}

TEST_F(RocksStoreTest, NothingIsAcknowledgedBeforeItIsSynced) {
  disk_->hold_log_syncs(true);
  auto receipt = await(store_->apply(admission("a")));
  loop_.run_ready();
  disk_->wait_for_held_sync();
  loop_.run_ready();
  EXPECT_FALSE(receipt->value);
  disk_->hold_log_syncs(false);
  loop_.run_until([&] { return receipt->value.has_value(); });
}

TEST_F(RocksStoreTest, AnAnswerThatShowsWhatIsNotSyncedWaitsForIt) {
  apply(admission("old"));
  disk_->hold_log_syncs(true);
  Change keyed = admission("a");
  keyed.next->idempotency_key = "key";
  auto dropped = store_->apply(keyed);
  auto loaded = await(store_->load(JobId("a"), {}));
  auto conflict = await(store_->apply(admission("a")));
  keyed.next->id = JobId("b");
  auto duplicate = await(store_->apply(keyed));
  auto other = await(store_->load(JobId("old"), {}));
  loop_.run_ready();
  disk_->wait_for_held_sync();
  loop_.run_ready();
  EXPECT_FALSE(loaded->value);
  EXPECT_FALSE(conflict->value);
  EXPECT_FALSE(duplicate->value);
  EXPECT_TRUE(other->value);
  disk_->hold_log_syncs(false);
  loop_.run_until([&] { return loaded->value && conflict->value && duplicate->value; });
  EXPECT_TRUE((*loaded->value)->record);
  EXPECT_TRUE(std::holds_alternative<Conflict>(**conflict->value));
  EXPECT_TRUE(std::holds_alternative<DuplicateKey>(**duplicate->value));
}

TEST_F(RocksStoreTest, ADiskBelowItsReserveRefusesNewWorkLetsJobsEndAndRecovers) {
  apply(admission("a"));
  disk_->set_free_bytes(100 << 20);
  loop_.advance(limits::kFreeSpaceCheckEvery);
  apply(change("a", 1, job::State::kScheduled));

  auto refused = loop_.wait(store_->apply(admission("b")));
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, ErrorCode::kFull);
  EXPECT_NE(refused.error().message.find("has 100 MB free, below the reserve of 256 MB"),
            std::string::npos);
  auto queued = loop_.wait(store_->enqueue({"s", "p", "", ""}, clock_.wall()));
  EXPECT_EQ(queued.error().code, ErrorCode::kFull);
  auto blob = loop_.wait(store_->put_blob("k", {"bytes", {}}, BlobCondition::kAlways));
  EXPECT_EQ(blob.error().code, ErrorCode::kFull);
  apply(change("a", 2, job::State::kSucceeded));

  disk_->set_free_bytes(1 << 30);
  loop_.advance(limits::kFreeSpaceCheckEvery);
  ASSERT_TRUE(loop_.wait(store_->add("any commit makes it look", 1)));
  apply(admission("b"));
}

TEST_F(RocksStoreTest, AFullQueuePushesBackAndTakesWorkAgain) {
  disk_->hold_log_syncs(true);
  for (size_t i = 0; i < limits::kCommitQueueMax; ++i) {
    auto dropped = store_->apply(admission(std::to_string(i)));
  }
  auto refused = loop_.wait(store_->apply(admission("one too many")));
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, ErrorCode::kUnavailable);
  EXPECT_EQ(store_->table().size(), limits::kCommitQueueMax);

  disk_->hold_log_syncs(false);
  ASSERT_TRUE(loop_.wait(store_->add("a commit behind them all", 1)));
  apply(admission("one too many"));
}

TEST_F(RocksStoreTest, AQueueOfTooManyBytesPushesBackToo) {
  disk_->hold_log_syncs(true);
  auto large = store_->put_blob("k", {std::string(limits::kCommitQueueBytesMax, 'x'), {}},
                                BlobCondition::kAlways);
  auto refused = loop_.wait(store_->apply(admission("a")));
  EXPECT_EQ(refused.error().code, ErrorCode::kUnavailable);
  disk_->hold_log_syncs(false);
  ASSERT_TRUE(loop_.wait(std::move(large)));
  apply(admission("a"));
}

TEST_F(RocksStoreTest, RecordsThatAreNoLongerAtHandAreReadFromDisk) {
  Change first = admission("first");
  first.next->team = "blue";
  first.request = "bytes";
  apply(std::move(first));
  size_t enough = limits::kRecordCacheBytesMax / sizeof(job::Record) + 1;
  for (size_t i = 0; i < enough; ++i) {
    auto dropped = store_->apply(admission(std::to_string(i)));
    if (i % 1000 == 0) ASSERT_TRUE(loop_.wait(store_->add("turn", 1)));
  }
  ASSERT_TRUE(loop_.wait(store_->add("turn", 1)));
  auto loaded = loop_.wait(store_->load(JobId("first"), {.with_request = true}));
  ASSERT_TRUE(loaded && loaded->record);
  EXPECT_EQ(loaded->record->team, "blue");
  EXPECT_EQ(loaded->request, "bytes");
}

TEST_F(RocksStoreTest, EndedJobsThatAreNoLongerAtHandAreReadFromDisk) {
  size_t enough = limits::kEndedCacheBytesMax / sizeof(job::Record) + 1;
  for (size_t i = 0; i < enough; ++i) {
    std::string id = std::to_string(i);
    apply(admission(id));
    apply(change(id, 1, job::State::kDenied));
  }
  auto loaded = loop_.wait(store_->load(JobId("0"), {}));
  ASSERT_TRUE(loaded && loaded->record);
  EXPECT_EQ(loaded->record->state, job::State::kDenied);
  EXPECT_EQ(loaded->record->revision, Revision(2));
}

TEST_F(RocksStoreTest, ManyEndedJobsDoNotKeepOtherThingsFromBeingRetired) {
  for (const char* id : {"a", "b", "c", "d"}) {
    apply(admission(id));
    apply(change(id, 1, job::State::kDenied));
  }
  ASSERT_TRUE(loop_.wait(store_->put_blob("k", {"bytes", clock_.wall()}, BlobCondition::kAlways)));
  clock_.advance(limits::kEndedJobTtl);
  EXPECT_EQ(loop_.wait(store_->retire(clock_.wall(), 4)), 3u);  // half of the jobs, and the blob
  EXPECT_EQ(loop_.wait(store_->retire(clock_.wall(), 4)), 2u);
  EXPECT_EQ(loop_.wait(store_->retire(clock_.wall(), 4)), 0u);
}

TEST_F(RocksStoreTest, AnEndedJobStandsOnceInEachIndexAndInNoneWhenItIsRetired) {
  apply(admission("a"));
  uint64_t revision = 0;
  for (auto [state, worker] :
       {std::pair(job::State::kSucceeded, "w"), std::pair(job::State::kOutputQuarantined, "v")}) {
    Change ended = change("a", ++revision, state);
    ended.next->assignee = WorkerId(worker);
    apply(std::move(ended));
    clock_.advance(1s);
  }
  auto entries = [&] {
    std::vector<size_t> counts;
    for (Family family :
         {Family::kEnded, Family::kEndedByTime, Family::kEndedByQueue, Family::kEndedByWorker}) {
      auto count = [&](std::string_view, std::string_view) -> Result<void> {
        ++counts.back();
        return {};
      };
      counts.push_back(0);
      EXPECT_TRUE(store_->database().for_each(family, count));
    }
    return counts;
  };
  EXPECT_EQ(entries(), (std::vector<size_t>{1, 1, 1, 1}));
  clock_.advance(limits::kEndedJobTtl);
  EXPECT_EQ(loop_.wait(store_->retire(clock_.wall(), 10)), 1u);
  EXPECT_EQ(entries(), (std::vector<size_t>{0, 0, 0, 0}));
}

TEST_F(RocksStoreTest, AStoreThatIsGoneCompletesNothing) {
  disk_->hold_log_syncs(true);
  auto receipt = await(store_->apply(admission("a")));
  loop_.run_ready();
  disk_->wait_for_held_sync();
  disk_->hold_log_syncs(false);
  store_.reset();
  loop_.run_ready();
  EXPECT_FALSE(receipt->value);
  open();
  EXPECT_TRUE(store_->table().contains(JobId("a")));
}

using RocksStoreDeathTest = RocksStoreTest;

TEST_F(RocksStoreDeathTest, AFailedWriteToTheLogEndsTheProcessWithAMessage) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_EXIT(
      {
        disk_->fail_log_writes();
        (void)loop_.wait(store_->apply(admission("a")));
      },
      testing::ExitedWithCode(1), "data folder .*data: a write failed .*the disk is broken");
}

}  // namespace
}  // namespace fairlead::store
