// The contract of leases: one holder, its token, its time, and its replica's sign of life.
#pragma once

#include "store/contract/store_test.h"

namespace fairlead::store {

class LeaseContract : public StoreTest {
 protected:
  bool acquire(const std::string& token, Duration ttl = 60s) {
    return get(store().acquire("key", {token, ttl}));
  }
  bool renew(const std::string& token, Duration ttl = 60s) {
    return get(store().renew("key", {token, ttl}));
  }
};
GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(LeaseContract);

TEST_P(LeaseContract, OneTokenHoldsALease) {
  EXPECT_TRUE(acquire("one.n.1"));
  EXPECT_FALSE(acquire("two.n.1"));
  EXPECT_TRUE(get(store().acquire("another key", {"two.n.1", 60s})));
}

TEST_P(LeaseContract, TheHolderMayAcquireAgain) {
  EXPECT_TRUE(acquire("one.n.1", 10s));
  advance(9s);
  EXPECT_TRUE(acquire("one.n.1", 10s));
  advance(9s);
  EXPECT_FALSE(acquire("two.n.1"));
}

TEST_P(LeaseContract, AnotherTokenOfTheSameReplicaDoesNotHoldIt) {
  EXPECT_TRUE(acquire("one.n.1"));
  EXPECT_FALSE(acquire("one.n.2"));
  EXPECT_FALSE(renew("one.n.2"));
}

TEST_P(LeaseContract, AnExpiredLeaseIsFree) {
  EXPECT_TRUE(acquire("one.n.1", 10s));
  advance(11s);
  EXPECT_TRUE(acquire("two.n.1"));
  EXPECT_FALSE(renew("one.n.1"));
}

TEST_P(LeaseContract, ARenewedLeaseLivesOn) {
  EXPECT_TRUE(acquire("one.n.1", 10s));
  advance(9s);
  EXPECT_TRUE(renew("one.n.1", 10s));
  advance(9s);
  EXPECT_FALSE(acquire("two.n.1"));
}

TEST_P(LeaseContract, ALeaseThatIsLostCannotBeRenewed) {
  EXPECT_FALSE(renew("one.n.1"));
  EXPECT_TRUE(acquire("one.n.1", 10s));
  advance(11s);
  EXPECT_FALSE(renew("one.n.1"));
}

TEST_P(LeaseContract, OnlyTheHolderReleases) {
  EXPECT_TRUE(acquire("one.n.1"));
  get(store().release("key", "two.n.1"));
  EXPECT_FALSE(acquire("two.n.1"));
  get(store().release("key", "one.n.1"));
  EXPECT_TRUE(acquire("two.n.1"));
}

TEST_P(LeaseContract, TheLeasesOfADeadReplicaAreTaken) {
  get(store().sign_of_life("one.n"));
  EXPECT_TRUE(acquire("one.n.1"));
  EXPECT_FALSE(acquire("two.n.1"));
  advance(limits::kAliveTtl + 1s);
  EXPECT_TRUE(acquire("two.n.1"));
  EXPECT_FALSE(renew("one.n.1"));
}

TEST_P(LeaseContract, AReplicaThatShowsLifeKeepsItsLeases) {
  get(store().sign_of_life("one.n"));
  EXPECT_TRUE(acquire("one.n.1"));
  for (int i = 0; i < 10; ++i) {
    advance(limits::kAliveRenewEvery);
    get(store().sign_of_life("one.n"));
  }
  EXPECT_FALSE(acquire("two.n.1"));
}

TEST_P(LeaseContract, TheTokenOfAServiceThatNeverShowsLifeIsNeverTakenBeforeItsTime) {
  EXPECT_TRUE(acquire("go-service-token"));
  advance(59s);
  EXPECT_FALSE(acquire("two.n.1"));
}

TEST_P(LeaseContract, LoadingCanTakeTheLeaseOfTheJob) {
  admit("a");
  LoadOptions mine{.lease = LeaseRequest{"one.n.1", 60s}};
  LoadOptions other{.lease = LeaseRequest{"two.n.1", 60s}};
  EXPECT_TRUE(get(store().load(JobId("a"), mine)).lease_taken);
  Loaded loaded = get(store().load(JobId("a"), other));
  EXPECT_FALSE(loaded.lease_taken);
  EXPECT_TRUE(loaded.record);
  EXPECT_FALSE(get(store().acquire(job_lease_key(JobId("a")), {"two.n.1", 60s})));
}

}  // namespace fairlead::store
