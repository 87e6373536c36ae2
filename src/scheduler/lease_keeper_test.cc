#include "scheduler/lease_keeper.h"

#include "scheduler/replica_fixture.h"

namespace fairlead::scheduler {
namespace {

using namespace std::chrono_literals;

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
    auto answer = store_.acquire(store::job_lease_key(JobId(job)), {"other.1.x", 60s});
    return *answer.await_resume();
  }

  Replica replica_{plugs(gate_), {}, pools()};
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
  loop_.run_for(200ms);
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
  (void)store_.release(store::job_lease_key(JobId("j1")), "other.1.x");
  loop_.run_for(limits::kLeasePollEvery);
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
  (void)store_.release(store::job_lease_key(JobId("j1")), taken.token);
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
  store::Receipt receipt = *store_.apply(std::move(late)).await_resume();
  auto* conflict = std::get_if<store::Conflict>(&receipt);
  ASSERT_NE(conflict, nullptr);
  EXPECT_TRUE(conflict->lease_lost);
}

}  // namespace
}  // namespace fairlead::scheduler
