// Which workers there are, and what they take: introductions and departures.
#include "routing/placement.h"
#include "scheduler/replica_fixture.h"
#include "scheduler/scheduler.h"

namespace fairlead::scheduler {
namespace {

namespace cap = cordum::agent::v1;
using job::ReasonCode;
using job::State;
using namespace std::chrono_literals;

class WorkerPresence : public ReplicaTest {
 protected:
  void SetUp() override {
    ASSERT_TRUE(run(bus_.start()));
    ASSERT_TRUE(run(scheduler_.start()));
  }
  void TearDown() override { bus_.drop(); }

  static std::shared_ptr<const routing::PoolMap> two_topics() {
    return std::make_shared<routing::PoolMap>(*routing::parse_pool_map(
        "topics: {job.default: default, job.other: default}\npools: {default: {}}\n"));
  }

  void join(const std::string& worker, int32_t capacity = 4) {
    listen(worker);
    beat(worker, capacity, 0);
  }
  void listen(const std::string& worker) {
    ears_[worker] =
        *bus_.subscribe(routing::direct_subject(WorkerId(worker)), {},
                        [](bus::Delivery) -> Task<bus::Verdict> { co_return bus::Verdict::ack(); });
  }
  void introduce(const std::string& worker, const std::vector<std::string>& topics,
                 cap::ComponentRole role = cap::COMPONENT_ROLE_WORKER) {
    cap::BusPacket packet;
    packet.mutable_handshake()->set_component_id(worker);
    packet.mutable_handshake()->set_role(role);
    for (const std::string& topic : topics) packet.mutable_handshake()->add_ready_topics(topic);
    send(bus::kHandshakeSubject, std::move(packet));
  }
  void leave(const std::string& worker) {
    ears_.erase(worker);
    (void)bus_.publish(std::string(bus::kWorkerGoneSubject), worker, {});
    loop_.run_ready();
  }
  void submit_to(const std::string& job, const std::string& topic) {
    cap::BusPacket packet;
    packet.mutable_job_request()->set_job_id(job);
    packet.mutable_job_request()->set_topic(topic);
    send(bus::kSubmitSubject, std::move(packet));
  }
  // "RUNNING w1", or "PENDING no_workers".
  std::string where(const std::string& job) {
    store::Snapshot record = stored(job);
    const std::string state = job::to_string(record->state);
    return state + " " +
           (record->wait ? job::to_string(record->wait->reason) : record->assignee.str());
  }

  Scheduler scheduler_{plugs(gate_), {.alone = true}, two_topics()};
  std::map<std::string, std::unique_ptr<bus::Subscription>> ears_;
};

TEST_F(WorkerPresence, JobsGoToTheWorkerThatTakesTheirTopic) {
  introduce("only-other", {"job.other"});
  join("only-other");
  join("all");
  beat("all", 4, 2);
  submit_to("j1", "job.default");
  submit_to("j2", "job.other");
  EXPECT_EQ(where("j1"), "RUNNING all");
  EXPECT_EQ(where("j2"), "RUNNING only-other");
}

TEST_F(WorkerPresence, AJobThatNobodyTakesDoesNotHoldUpThoseOfOtherTopics) {
  introduce("only-other", {"job.other"});
  join("only-other", 1);
  submit_to("j1", "job.default");
  EXPECT_EQ(where("j1"), "PENDING no_workers");
  EXPECT_EQ(stored("j1")->wait->detail, "no workers in pool \"default\" for job.default");
  submit_to("j2", "job.other");
  EXPECT_EQ(where("j2"), "RUNNING only-other");
  join("all");
  EXPECT_EQ(where("j1"), "RUNNING all");
}

TEST_F(WorkerPresence, JobsThatWaitedTogetherPartWhenAWorkerComesForSomeOfThem) {
  submit_to("j1", "job.default");
  submit_to("j2", "job.other");
  EXPECT_EQ(where("j2"), "PENDING no_workers");
  introduce("only-other", {"job.other"});
  join("only-other");
  loop_.run_for(1s);
  EXPECT_EQ(where("j2"), "RUNNING only-other");
  EXPECT_EQ(where("j1"), "PENDING no_workers");
}

TEST_F(WorkerPresence, AWorkerThatTakesMoreThanBeforeIsOfferedWhatWaits) {
  introduce("w1", {"job.other"});
  join("w1");
  submit_to("j1", "job.default");
  EXPECT_EQ(where("j1"), "PENDING no_workers");
  introduce("w1", {});
  EXPECT_EQ(where("j1"), "RUNNING w1");
}

TEST_F(WorkerPresence, OnlyWorkersIntroduceThemselvesAsWorkers) {
  join("w1");
  introduce("w1", {"job.other"}, cap::COMPONENT_ROLE_GATEWAY);
  send(bus::kHandshakeSubject, {});
  (void)bus_.publish(std::string(bus::kHandshakeSubject), "\xff", {});
  submit_to("j1", "job.default");
  EXPECT_EQ(where("j1"), "RUNNING w1");
}

TEST_F(WorkerPresence, AWorkerThatLeftIsGivenNothing) {
  join("w1");
  join("w2");
  leave("w1");
  EXPECT_EQ(scheduler_.registry().size(), 1u);
  submit_to("j1", "job.default");
  EXPECT_EQ(where("j1"), "RUNNING w2");
  leave("w2");
  submit_to("j2", "job.default");
  EXPECT_EQ(where("j2"), "PENDING no_workers");
  join("w1");
  EXPECT_EQ(where("j2"), "RUNNING w1");
}

TEST_F(WorkerPresence, WhatAWorkerHadWhenItLeftIsLostOnlyAfterItsTtl) {
  join("w1");
  submit_to("j1", "job.default");
  leave("w1");
  loop_.run_for(limits::kWorkerTtl - 1s);
  EXPECT_FALSE(stored("j1")->worker_lost);
  loop_.run_for(3s);
  EXPECT_TRUE(stored("j1")->worker_lost);
  EXPECT_EQ(scheduler_.metrics().value(Counter::kWorkersLost), 1u);
}

TEST_F(WorkerPresence, AWorkerThatComesBackInTimeKeepsWhatItHad) {
  join("w1");
  submit_to("j1", "job.default");
  leave("w1");
  loop_.run_for(10s);
  join("w1");
  beat("w1", 4, 1);
  for (int i = 0; i < 10; ++i) {
    loop_.run_for(5s);
    beat("w1", 4, 1);
  }
  EXPECT_FALSE(stored("j1")->worker_lost);
  EXPECT_EQ(where("j1"), "RUNNING w1");
}

TEST_F(WorkerPresence, AWorkerThatLeftWithNothingInHandIsNotLost) {
  join("w1");
  leave("w1");
  loop_.run_for(2 * limits::kWorkerTtl);
  EXPECT_EQ(scheduler_.metrics().value(Counter::kWorkersLost), 0u);
}

TEST_F(WorkerPresence, AJobWhoseWorkerCannotBeReachedGoesToAnotherAtOnce) {
  beat("deaf", 4, 0);
  join("w2");
  beat("w2", 4, 2);
  submit_to("j1", "job.default");
  EXPECT_EQ(where("j1"), "RUNNING w2");
  EXPECT_EQ(stored("j1")->deliveries, 1u);
  EXPECT_EQ(stored("j1")->epoch, Epoch(2));
}

TEST_F(WorkerPresence, WorkersThatCannotBeReachedAreNotTriedOneAfterTheOtherForEver) {
  for (int i = 0; i < 40; ++i) beat("deaf-" + std::to_string(i), 4, 0);
  submit_to("j1", "job.default");
  EXPECT_EQ(stored("j1")->state, State::kScheduled);
  EXPECT_LE(stored("j1")->attempts, limits::kAtOnceAttemptsMax + 2);
  EXPECT_EQ(stored("j1")->wait->reason, ReasonCode::kPublishFailed);
}

}  // namespace
}  // namespace fairlead::scheduler
