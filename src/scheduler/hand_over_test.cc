#include "scheduler/hand_over.h"

#include "scheduler/holding_bus.h"
#include "scheduler/replica_fixture.h"
#include "scheduler/scheduler.h"

namespace fairlead::scheduler {
namespace {

using job::State;
using namespace std::chrono_literals;

// Its server failed over: the lease is not known there, and the record may be another.
class ReturnedStore final : public store::MemoryStore {
 public:
  using MemoryStore::MemoryStore;

  store::Answer<store::Receipt> apply(store::Change change) override {
    if (change.next->state != State::kRunning) return MemoryStore::apply(std::move(change));
    leases.push_back(change.guard.lease);
    if (leases.size() > 1) return MemoryStore::apply(std::move(change));
    return store::Receipt(store::Conflict{now, true});
  }

  store::Snapshot now;              // what it has of the job, as it says at the first try
  std::vector<std::string> leases;  // under which RUNNING was tried
};

class HandOverTest : public ReplicaTest {
 protected:
  // A dispatch that was committed and published.
  HandOverTest() {
    cordum::agent::v1::JobRequest request;
    request.set_job_id("j1");
    request.set_topic("job.default");
    store::Change change;
    change.path = {State::kPending, State::kScheduled, State::kDispatched};
    *change.next = job::new_record(request, TraceId("t"), clock_.wall());
    change.next->state = State::kDispatched;
    change.next->epoch = Epoch(1);
    change.next->assignee = WorkerId("w1");
    change.next->publish_pending = true;
    change.request = job::serialise(request);
    dispatched_ =
        std::get<store::Applied>(*returned_.apply(std::move(change)).await_resume()).record;
  }

  void commit_running() {
    tasks_.spawn(hand_over_.commit_running("replica.1.token", dispatched_));
    loop_.run_ready();
  }
  State state() { return returned_.load(JobId("j1"), {}).await_resume()->record->state; }

  ReturnedStore returned_{clock_};
  Replica replica_{{loop_, clock_, random_, returned_, bus_, gate_, log_}, {}, pools()};
  LeaseKeeper leases_{replica_};
  Commits commits_{replica_, {[](store::Claim) {}, [](std::string) {}}};
  HandOver hand_over_{replica_, leases_, commits_, [](const job::Record&) {}};
  store::Snapshot dispatched_;
};

TEST_F(HandOverTest, RunningIsNotWrittenOverAnotherEpochOfTheSameRevision) {
  job::Record other = *dispatched_;
  other.epoch = Epoch(2);
  returned_.now = std::make_shared<const job::Record>(other);
  commit_running();
  EXPECT_EQ(returned_.leases, std::vector<std::string>{"replica.1.token"});
  EXPECT_EQ(state(), State::kDispatched);
}

TEST_F(HandOverTest, RunningIsWrittenWithoutTheLeaseThatWasLost) {
  returned_.now = dispatched_;
  commit_running();
  EXPECT_EQ(returned_.leases, (std::vector<std::string>{"replica.1.token", ""}));
  EXPECT_EQ(state(), State::kRunning);
}

// A job that is on its way to its worker, and a listener for what workers are told.
class PublishTest : public ReplicaTest {
 protected:
  PublishTest() {
    EXPECT_TRUE(run(bus_.start()));
    EXPECT_TRUE(run(scheduler_.start()));
    auto count = [this](bus::Delivery) -> Task<bus::Verdict> {
      ++told_;
      co_return bus::Verdict::ack();
    };
    worker_ = *bus_.subscribe(std::string(bus::kCancelSubject), {}, count);
    beat("w1", 4, 0);
    submit("j1");
    EXPECT_EQ(stored("j1")->state, State::kDispatched);
  }
  ~PublishTest() override { bus_.drop(); }

  void publish_ends(bus::Published how) {
    holding_.held.at(0).complete(how);
    loop_.run_ready();
  }

  int told_ = 0;
  HoldingBus holding_{bus_};
  Scheduler scheduler_{plugs_with(holding_), {}, pools()};
  std::unique_ptr<bus::Subscription> worker_;
};

TEST_F(PublishTest, AWorkerIsToldOfAJobThatEndedWhileItsPublishEndedUnknown) {
  ASSERT_TRUE(*run(scheduler_.cancel(JobId("j1"), "not needed")));
  ASSERT_EQ(told_, 1);
  publish_ends(bus::Published::kUnknown);
  EXPECT_EQ(told_, 2) << "it may have got the job after it was told";
}

TEST_F(PublishTest, AWorkerIsToldNothingOfAJobThatGoesOnWhenItsPublishEndedUnknown) {
  publish_ends(bus::Published::kUnknown);
  EXPECT_EQ(told_, 0);
  EXPECT_EQ(stored("j1")->state, State::kDispatched);
}

}  // namespace
}  // namespace fairlead::scheduler
