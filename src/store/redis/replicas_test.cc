// Several replicas on one Redis.
#include <algorithm>

#include "store/redis/store_walk_fixture.h"

namespace fairlead::store::redis {
namespace {

class Replicas : public WalkTest {
 protected:
  using Words = cluster::RedisServerProcess::Words;

  Change waits(const std::string& job) {
    Change change = dispatch(request(job));
    change.path = {State::kPending};
    change.next->state = State::kPending;
    change.next->publish_pending = false;
    change.next->wait = job::Wait{job::ReasonCode::kNoWorkers, "", "class", clock_.wall()};
    return change;
  }
  template <class Kind>
  static size_t count(const std::vector<Receipt>& receipts) {
    return static_cast<size_t>(std::ranges::count_if(
        receipts, [](const Receipt& receipt) { return std::holds_alternative<Kind>(receipt); }));
  }

  std::unique_ptr<RedisStore> other_ = open();
};

TEST_F(Replicas, OneOfTwoThatChangeAJobWins) {
  apply<Applied>(dispatch(request("a")));
  for (int i = 0; i < 200; ++i) {
    Snapshot record = load("a");
    Change change = follow(*record, record->state);
    change.path.clear();
    change.next->attempts = static_cast<uint32_t>(i);
    auto first = store_->apply(change);
    auto second = other_->apply(change);
    std::vector<Receipt> receipts = {get(std::move(first)), get(std::move(second))};
    ASSERT_EQ(count<Applied>(receipts), 1u);
    ASSERT_EQ(count<Conflict>(receipts), 1u);
  }
  EXPECT_EQ(load("a")->revision, Revision(201));
}

TEST_F(Replicas, OneOfTwoThatAdmitAJobWins) {
  for (int i = 0; i < 100; ++i) {
    Change change = dispatch(request(std::to_string(i)));
    change.tenant_limit = change.worker_limit = 0;
    auto first = store_->apply(change);
    auto second = other_->apply(change);
    std::vector<Receipt> receipts = {get(std::move(first)), get(std::move(second))};
    ASSERT_EQ(count<Applied>(receipts), 1u);
  }
}

TEST_F(Replicas, NoSlotIsGivenBeyondTheLimitByAllTogether) {
  constexpr uint32_t kLimit = 7;
  std::vector<Answer<Receipt>> answers;
  for (int i = 0; i < 100; ++i) {
    Change change = dispatch(request(std::to_string(i)));
    (i % 3 == 0 ? change.tenant_limit : change.worker_limit) = kLimit;
    if (i % 3 == 0) change.worker_limit = 0;
    if (i % 3 != 0) change.tenant_limit = 0;
    answers.push_back((i % 2 == 0 ? store_ : other_)->apply(std::move(change)));
  }
  std::vector<Receipt> receipts;
  for (auto& answer : answers) receipts.push_back(get(std::move(answer)));
  EXPECT_EQ(count<Applied>(receipts), kLimit);
  EXPECT_EQ(count<Full>(receipts), 100 - kLimit);
  EXPECT_EQ(server().number({"SCARD", "fairlead:slots:tenant:acme"}), kLimit);
  EXPECT_EQ(server().number({"ZCARD", "fairlead:slots:worker:w"}), kLimit);
}

TEST_F(Replicas, SlotsOfJobsThatAreGoneAreFoundWhereverTheyStand) {
  constexpr int kLimit = 30;
  for (int i = 0; i < kLimit; ++i) {
    clock_.advance(1ms);
    Change change = dispatch(request(std::to_string(i)));
    change.tenant_limit = change.worker_limit = 0;
    apply<Applied>(std::move(change));
  }
  // One of the youngest vanishes.
  server().ask({"DEL", "job:meta:" + std::to_string(kLimit - 2)});
  auto dispatches = [&] {
    clock_.advance(1ms);
    Change change = dispatch(request("next"));
    change.tenant_limit = 0;
    change.worker_limit = kLimit;
    clock_.advance(Duration(7));
    return std::holds_alternative<Applied>(get(store_->apply(std::move(change))));
  };
  int tries = 1;
  while (!dispatches() && tries < 1000) ++tries;
  EXPECT_LT(tries, 1000);
}

TEST_F(Replicas, AClaimedJobIsNobodyElses) {
  for (const char* id : {"a", "b", "c"}) {
    apply<Applied>(waits(id));
    clock_.advance(1s);
  }
  std::vector<std::string> claimed;
  for (auto* store : {store_.get(), other_.get(), store_.get(), other_.get()}) {
    for (const Claim& claim : get(store->claim({{"class"}, 1}))) claimed.push_back(claim.job.str());
  }
  EXPECT_EQ(claimed, (std::vector<std::string>{"a", "b", "c"}));
  clock_.advance(limits::kClaimTtl);
  EXPECT_EQ(get(other_->claim({{"class"}, 1}))[0].job, JobId("a"));
}

TEST_F(Replicas, TheLeasesOfADeadOneAreTakenByTheOther) {
  get(store_->sign_of_life("one.n"));
  LoadOptions first{.lease = LeaseRequest{"one.n.u", 60s}};
  LoadOptions second{.lease = LeaseRequest{"two.n.u", 60s}};
  EXPECT_TRUE(get(store_->load(JobId("a"), first)).lease_taken);
  EXPECT_FALSE(get(other_->load(JobId("a"), second)).lease_taken);
  advance_server(server(), limits::kAliveTtl);
  EXPECT_TRUE(get(other_->load(JobId("a"), second)).lease_taken);
  // And what the dead one would still write is refused.
  EXPECT_TRUE(apply<Conflict>(dispatch(request("a"), "one.n.u")).lease_lost);
}

TEST_F(Replicas, TheLeasesOfOneThatLeftAreFreeAtOnce) {
  get(store_->sign_of_life("one.n"));
  LoadOptions first{.lease = LeaseRequest{"one.n.u", 60s}};
  LoadOptions second{.lease = LeaseRequest{"two.n.u", 60s}};
  EXPECT_TRUE(get(store_->load(JobId("a"), first)).lease_taken);
  get(store_->leave("one.n"));
  EXPECT_TRUE(get(other_->load(JobId("a"), second)).lease_taken);
}

TEST_F(Replicas, WhatOthersDidIsCountedAfterAWhile) {
  apply<Applied>(waits("a"));
  EXPECT_EQ(store_->waiting_in("class"), 1u);
  EXPECT_EQ(other_->waiting_in("class"), 0u);
  loop_.advance(limits::kRedisViewEvery);
  loop_.run_until([&] { return other_->waiting_in("class") == 1; });
  EXPECT_EQ(other_->jobs_in(State::kPending), 1u);
  EXPECT_EQ(open()->waiting_in("class"), 1u);
}

TEST_F(Replicas, CountsOfClassesWithoutNumberAreReadFewAtATime) {
  constexpr int kClasses = 3000;
  cluster::RedisServerProcess::Words count{"HSET", "fairlead:class:counts"};
  for (int i = 0; i < kClasses; ++i) {
    count.insert(count.end(), {"class-" + std::to_string(i), "2"});
  }
  server().ask(count);
  auto known = [](const RedisStore& store) {
    int classes = 0;
    for (int i = 0; i < kClasses; ++i)
      classes += store.waiting_in("class-" + std::to_string(i)) == 2;
    return classes;
  };
  auto third = open();
  EXPECT_LT(known(*third), kClasses) << "not all at once";
  auto look = [&] {
    loop_.advance(limits::kRedisViewEvery);
    loop_.run_until([&] { return third->outstanding() == 0; });
  };
  for (int looks = 0; looks < 10 && known(*third) < kClasses; ++looks) look();
  EXPECT_EQ(known(*third), kClasses);
  server().ask({"DEL", "fairlead:class:counts"});
  for (int looks = 0; looks < 10 && known(*third) > 0; ++looks) look();
  EXPECT_EQ(known(*third), 0) << "those that are gone are forgotten";
}

TEST_F(Replicas, EveryReplicaLearnsThatOneOfThemDied) {
  auto settled = [&] { return store_->outstanding() == 0 && other_->outstanding() == 0; };
  // Both look once more, and know the same.
  auto look = [&] {
    loop_.run_until(settled);
    loop_.advance(limits::kRedisViewEvery);
    loop_.run_until(settled);
    EXPECT_EQ(store_->deaths(), other_->deaths());
    return store_->deaths();
  };
  get(store_->sign_of_life("one.n"));
  get(other_->sign_of_life("two.n"));
  const uint64_t before = look();
  advance_server(server(), limits::kAliveTtl);
  get(store_->sign_of_life("one.n"));
  EXPECT_EQ(look(), before + 1);
  EXPECT_EQ(look(), before + 1) << "each dies once";
  get(other_->sign_of_life("two.n"));
  EXPECT_EQ(look(), before + 1);
  EXPECT_EQ(open()->deaths(), before + 1);
}

TEST_F(Replicas, NothingIsLeftOfAClassInWhichNobodyWaits) {
  for (const char* id : {"a", "b"}) apply<Applied>(waits(id));
  EXPECT_EQ(server().text({"HGET", "fairlead:class:counts", "class"}), "2");
  EXPECT_EQ(get(store_->claim({{"class"}, 1})).size(), 1u);
  for (const char* id : {"a", "b"}) {
    Snapshot record = load(id);
    Change change = follow(*record, State::kDispatched);
    change.next->wait.reset();
    apply<Applied>(std::move(change));
  }
  for (const std::string& key : server().ask({"KEYS", "fairlead:*"}).texts()) {
    EXPECT_EQ(key.find("class"), std::string::npos) << key;
    EXPECT_EQ(key.find("claim"), std::string::npos) << key;
  }
}

// The test's clock is years behind that of the server.
TEST_F(Replicas, WhatIsOverGoesByTheServersClock) {
  apply<Applied>(dispatch(request("a")));
  auto due = [&] { return get(store_->scan({.by = Query::By::kDue})).records.size(); };
  EXPECT_EQ(due(), 0u);
  const WallTime told = get(store_->sign_of_life("one.n"));
  const WallTime now = get(store_->server_time());
  EXPECT_LE(told, now);
  EXPECT_LT(now - told, 60s);
  EXPECT_EQ(store_->clock().wall(), told);
  EXPECT_EQ(due(), 1u);
  EXPECT_EQ(get(store_->scan({.by = Query::By::kDeadline})).records.size(), 1u);
  EXPECT_EQ(get(store_->scan({.by = Query::By::kUnpublished, .age = 1s})).records.size(), 1u);
  // However our own is set, time goes on from there.
  clock_.set_wall(WallTime());
  clock_.advance(1s);
  EXPECT_EQ(store_->clock().wall(), told + 1s);
  EXPECT_EQ(due(), 1u);
}

TEST_F(Replicas, TheServerTellsItsClockAndWhatAnAcknowledgementIsWorth) {
  Words time = server().ask({"TIME"}).texts();
  WallTime now = get(store_->server_time());
  EXPECT_GE(to_micros(now), std::stoll(time[0]) * 1'000'000);
  EXPECT_LE(to_micros(now), (std::stoll(time[0]) + 60) * 1'000'000);
  ServerSettings settings = get(store_->server_settings());
  EXPECT_TRUE(settings.append_only);
  EXPECT_EQ(settings.append_sync, "everysec");
  EXPECT_EQ(settings.eviction, "noeviction");
  EXPECT_EQ(settings.replicas_min, 0);
}

}  // namespace
}  // namespace fairlead::store::redis
