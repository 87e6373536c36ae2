#include "scheduler/lease_keeper.h"

#include "scheduler/replica_fixture.h"

namespace fairlead::scheduler {
namespace {

using namespace std::chrono_literals;

// The memory store, of which some calls fail when told to.
class FailingStore final : public store::MemoryStore {
 public:
  using MemoryStore::MemoryStore;

  store::Answer<store::Loaded> load(const JobId& job, store::LoadOptions options) override {
    auto loaded = MemoryStore::load(job, std::move(options));
    if (lost_loads > 0) {
      --lost_loads;
      return fail(ErrorCode::kUnknown, "the answer was lost");
    }
    return loaded;
  }
  store::Answer<bool> renew(std::string key, store::LeaseRequest lease) override {
    ++renewals;
    if (fails_renewal && fails_renewal(renewals)) return fail(ErrorCode::kUnavailable, "away");
    return MemoryStore::renew(std::move(key), std::move(lease));
  }
  store::Answer<void> release(std::string key, std::string token) override {
    ++releases;
    if (failing_releases > 0) {
      --failing_releases;
      return fail(ErrorCode::kUnavailable, "away");
    }
    return MemoryStore::release(std::move(key), std::move(token));
  }

  int lost_loads = 0;
  int renewals = 0;
  std::function<bool(int number)> fails_renewal;
  int releases = 0;
  int failing_releases = 0;
};

class LeaseKeeperTest : public ReplicaTest {
 protected:
  void SetUp() override {
    ASSERT_TRUE(run(keeper_.appear()));
    replica_.nursery.spawn(keeper_.keep_alive());
    replica_.nursery.spawn(keeper_.keep_renewing());
  }

  LeaseKeeper::Taken take(const char* job) {
    return *run(keeper_.take(JobId(job), false, Duration(0)));
  }
  // Another replica's try for the lease.
  bool others_take(const char* job) {
    auto answer = failing_.acquire(store::job_lease_key(JobId(job)), {"other.1.x", 60s});
    return *answer.await_resume();
  }

  Plugs plugs_with_failing_store() { return {loop_, clock_, random_, failing_, bus_, gate_, log_}; }

  FailingStore failing_{clock_};
  Replica replica_{plugs_with_failing_store(), {}, pools()};
  LeaseKeeper keeper_{replica_};
};

TEST_F(LeaseKeeperTest, ATakenLeaseKeepsOthersOut) {
  take("j1");
  EXPECT_FALSE(others_take("j1"));
  EXPECT_TRUE(others_take("j2"));
}

TEST_F(LeaseKeeperTest, TokensAreUniqueAndBeginWithTheReplica) {
  auto first = take("j1");
  auto second = take("j2");
  EXPECT_NE(first.token, second.token);
  EXPECT_EQ(store::replica_of_token(first.token), replica_.name);
}

TEST_F(LeaseKeeperTest, AHeldLeaseIsWaitedForUpToThePatienceAndThenBusy) {
  ASSERT_TRUE(others_take("j1"));
  std::optional<Result<LeaseKeeper::Taken>> taken;
  auto wait = [](LeaseKeeper& keeper, auto& into) -> Task<void> {
    into.emplace(co_await keeper.take(JobId("j1"), false, limits::kLeaseWaitMax));
  };
  tasks_.spawn(wait(keeper_, taken));
  loop_.run_for(1900ms);
  EXPECT_FALSE(taken.has_value());
  loop_.run_for(100ms + limits::kLeasePollEveryMax);
  ASSERT_TRUE(taken.has_value());
  ASSERT_FALSE(taken->has_value());
  EXPECT_EQ(taken->error().message, "job lock busy");
}

TEST_F(LeaseKeeperTest, AFreedLeaseIsTakenWithinOnePoll) {
  ASSERT_TRUE(others_take("j1"));
  std::optional<Result<LeaseKeeper::Taken>> taken;
  auto wait = [](LeaseKeeper& keeper, auto& into) -> Task<void> {
    into.emplace(co_await keeper.take(JobId("j1"), false, limits::kLeaseWaitMax));
  };
  tasks_.spawn(wait(keeper_, taken));
  loop_.run_for(1s);
  (void)failing_.MemoryStore::release(store::job_lease_key(JobId("j1")), "other.1.x");
  loop_.run_for(limits::kLeasePollEveryMax);
  ASSERT_TRUE(taken && taken->has_value());
}

TEST_F(LeaseKeeperTest, WorkThatOutlastsTheTtlKeepsItsLease) {
  auto taken = take("j1");
  loop_.run_for(10min);
  EXPECT_FALSE(others_take("j1"));
  EXPECT_TRUE(keeper_.may_publish(taken.token));
}

TEST_F(LeaseKeeperTest, AReleasedLeaseIsFreeAndNoLongerRenewed) {
  auto taken = take("j1");
  keeper_.release(JobId("j1"), taken.token);
  EXPECT_TRUE(others_take("j1"));
  loop_.run_for(50s);
  EXPECT_FALSE(keeper_.may_publish(taken.token));
  EXPECT_EQ(replica_.metrics.value(Counter::kJobLockAbandoned), 0u);
}

TEST_F(LeaseKeeperTest, H10_ALeaseThatIsNoLongerOursIsAbandonedAtTheFirstRenewal) {
  auto taken = take("j1");
  (void)failing_.MemoryStore::release(store::job_lease_key(JobId("j1")), taken.token);
  ASSERT_TRUE(others_take("j1"));
  loop_.run_for(limits::kJobLeaseRenewEvery + 2 * limits::kAliveRenewEvery);
  EXPECT_EQ(replica_.metrics.value(Counter::kJobLockAbandoned), 1u);
  EXPECT_FALSE(keeper_.may_publish(taken.token));
}

TEST_F(LeaseKeeperTest, H11_AHolderThatWasPausedDoesNotPublish) {
  auto taken = take("j1");
  ASSERT_TRUE(keeper_.may_publish(taken.token));
  replica_.nursery.drop();  // nothing of the replica runs any more, time does
  loop_.run_for(limits::kAliveTtl);
  EXPECT_FALSE(keeper_.may_publish(taken.token));
}

TEST_F(LeaseKeeperTest, H11_TheLeaseOfADeadReplicaIsTakenOverInSecondsAndItsWritesAreRefused) {
  auto taken = take("j1");
  replica_.nursery.drop();
  loop_.run_for(limits::kAliveTtl + 1s);
  EXPECT_TRUE(others_take("j1"));
  store::Change late;
  late.guard.lease = taken.token;
  late.next->id = JobId("j1");
  late.next->tenant = TenantId("acme");
  late.path = {job::State::kPending};
  store::Receipt receipt = *failing_.apply(std::move(late)).await_resume();
  auto* conflict = std::get_if<store::Conflict>(&receipt);
  ASSERT_NE(conflict, nullptr);
  EXPECT_TRUE(conflict->lease_lost);
}

TEST_F(LeaseKeeperTest, ThreeFailingRenewalsAbandonTheLeaseAndNoMoreAreTried) {
  auto taken = take("j1");
  failing_.fails_renewal = [](int) { return true; };
  loop_.run_for(limits::kJobLeaseRenewEvery + 2 * limits::kLeaseRenewRetry - 1s);
  EXPECT_EQ(failing_.renewals, 2);
  EXPECT_TRUE(keeper_.may_publish(taken.token));
  loop_.run_for(3s);
  EXPECT_EQ(failing_.renewals, 3);
  EXPECT_EQ(replica_.metrics.value(Counter::kJobLockAbandoned), 1u);
  EXPECT_FALSE(keeper_.may_publish(taken.token));
  EXPECT_EQ(failing_.releases, 0) << "it is left to expire";
  loop_.run_for(5min);
  EXPECT_EQ(failing_.renewals, 3);
}

TEST_F(LeaseKeeperTest, RenewalsThatFailEveryOtherTimeNeverAbandonTheLease) {
  auto taken = take("j1");
  failing_.fails_renewal = [](int number) { return number % 2 == 1; };
  loop_.run_for(5min);
  EXPECT_GE(failing_.renewals, 6);
  EXPECT_EQ(replica_.metrics.value(Counter::kJobLockAbandoned), 0u);
  EXPECT_TRUE(keeper_.may_publish(taken.token));
  EXPECT_FALSE(others_take("j1"));
}

TEST_F(LeaseKeeperTest, AStoreThatIsAwayForSomeSecondsCostsNoLease) {
  auto taken = take("j1");
  failing_.fails_renewal = [this](int) {
    return loop_.now().time_since_epoch() < limits::kJobLeaseRenewEvery + 5s;
  };
  loop_.run_for(5min);
  EXPECT_EQ(replica_.metrics.value(Counter::kJobLockAbandoned), 0u);
  EXPECT_FALSE(others_take("j1"));
}

TEST_F(LeaseKeeperTest, AReleaseThatFailedIsTriedAgain) {
  auto taken = take("j1");
  failing_.failing_releases = 2;
  keeper_.release(JobId("j1"), taken.token);
  EXPECT_EQ(keeper_.doubtful(), 1u);
  EXPECT_FALSE(others_take("j1"));
  loop_.run_for(2 * limits::kLeaseReleaseRetry + 100ms);
  EXPECT_EQ(keeper_.doubtful(), 0u);
  EXPECT_TRUE(others_take("j1"));
}

TEST_F(LeaseKeeperTest, ALeaseThatWasTakenWithoutOurKnowingIsFoundAgain) {
  failing_.lost_loads = 1;
  EXPECT_FALSE(run(keeper_.take(JobId("j1"), false, Duration(0))));
  EXPECT_FALSE(others_take("j1")) << "the store gave it to us";
  auto taken = take("j1");
  EXPECT_TRUE(keeper_.may_publish(taken.token));
  EXPECT_EQ(keeper_.doubtful(), 0u);
  loop_.run_for(5s);
  EXPECT_FALSE(others_take("j1")) << "it is not released while it is held";
}

TEST_F(LeaseKeeperTest, ALeaseThatWasTakenWithoutOurKnowingIsGivenBack) {
  failing_.lost_loads = 1;
  EXPECT_FALSE(run(keeper_.take(JobId("j1"), false, Duration(0))));
  loop_.run_for(limits::kLeaseReleaseRetry + 100ms);
  EXPECT_TRUE(others_take("j1"));
}

TEST_F(LeaseKeeperTest, TwoDoubtfulLeasesOfOneJobAreBothGivenBack) {
  auto held = take("j1");
  tasks_.spawn([](LeaseKeeper& keeper) -> Task<void> {
    (void)co_await keeper.take(JobId("j1"), false, 10s);
  }(keeper_));
  failing_.failing_releases = 1;
  keeper_.release(JobId("j1"), held.token);
  failing_.lost_loads = 1;  // of who waits for it
  loop_.run_for(limits::kLeasePollEvery);
  EXPECT_EQ(keeper_.doubtful(), 2u);
  loop_.run_for(limits::kLeaseReleaseRetry);
  EXPECT_EQ(keeper_.doubtful(), 0u);
  EXPECT_TRUE(others_take("j1"));
}

TEST_F(LeaseKeeperTest, WhatIsDoubtfulIsForgottenWhenTheLeaseMustBeOver) {
  auto taken = take("j1");
  failing_.failing_releases = 1000;
  keeper_.release(JobId("j1"), taken.token);
  loop_.run_for(limits::kJobLeaseTtl + 3s);
  EXPECT_EQ(keeper_.doubtful(), 0u);
}

}  // namespace
}  // namespace fairlead::scheduler
