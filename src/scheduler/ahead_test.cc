// Results that come while what they end is on its way to the disk.
#include "scheduler/replica_fixture.h"
#include "scheduler/scheduler.h"
#include "store/contract/store_test.h"
#include "store/rocksdb/rocks_store.h"

namespace fairlead::scheduler {
namespace {

namespace cap = cordum::agent::v1;

// A store whose disk never catches up with who reads ahead of it.
class AheadStore final : public store::MemoryStore {
 public:
  using MemoryStore::MemoryStore;

  store::Answer<store::Loaded> load(const JobId& job, store::LoadOptions options) override {
    const bool ahead = options.ahead;
    Result<store::Loaded> loaded = MemoryStore::load(job, std::move(options)).await_resume();
    (ahead ? loads_ahead : loads_behind)++;
    loaded->ahead = ahead;
    return loaded;
  }
  store::Answer<store::Receipt> apply(store::Change change) override {
    if (change.may_be_put_off) put_off.push_back(change.next->state);
    return MemoryStore::apply(std::move(change));
  }

  int loads_ahead = 0;
  int loads_behind = 0;
  std::vector<job::State> put_off;
};

class AheadTest : public ReplicaTest {
 protected:
  AheadTest() {
    EXPECT_TRUE(run(bus_.start()));
    EXPECT_TRUE(run(scheduler_.start()));
    beat("w", 10, 0);
    auto listening = bus_.subscribe("worker.w.jobs", {}, [](bus::Delivery) -> Task<bus::Verdict> {
      co_return bus::Verdict::ack();
    });
    worker_ = *std::move(listening);
    submit("job");
    EXPECT_EQ(state(), job::State::kRunning);
    store.loads_ahead = store.loads_behind = 0;
  }
  ~AheadTest() override { bus_.drop(); }

  job::State state() { return store.all().at(0).state; }
  void answer() {
    cap::BusPacket packet;
    packet.mutable_job_result()->set_job_id("job");
    packet.mutable_job_result()->set_worker_id("w");
    packet.mutable_job_result()->set_status(cap::JOB_STATUS_SUCCEEDED);
    send(bus::kResultSubject, std::move(packet));
  }

  AheadStore store{clock_};
  std::unique_ptr<bus::Subscription> worker_;
  Scheduler scheduler_{
      Plugs{loop_, clock_, random_, store, bus_, gate_, log_}, {.alone = true}, pools()};
};

TEST_F(AheadTest, AResultIsCommittedOnTopOfWhatIsNotYetDurable) {
  answer();
  EXPECT_EQ(state(), job::State::kSucceeded);
  EXPECT_EQ(store.loads_ahead, 1);
  EXPECT_EQ(store.loads_behind, 0);
}

TEST_F(AheadTest, NoResultIsIgnoredForWhatIsNotYetDurable) {
  answer();
  answer();
  EXPECT_EQ(store.loads_ahead, 2);
  EXPECT_EQ(store.loads_behind, 1) << "looked at again when it is on the disk";
}

TEST_F(AheadTest, OnlyThatAJobRunsMayBePutOff) {
  answer();
  EXPECT_EQ(store.put_off, std::vector{job::State::kRunning});
}

TEST_F(ReplicaTest, AJobThatComesAloneIsSyncedTwice) {
  store::TemporaryFolder folder;
  store::RocksOptions options;
  options.path = folder.inside("data");
  options.fsync = false;
  auto store = *store::RocksStore::open(options, loop_, clock_);
  auto settle = [&] {
    loop_.run_ready();
    while (store->outstanding() > 0) {
      loop_.wait_posted();
      loop_.run_ready();
    }
  };
  bus::LocalBus bus(loop_, clock_, *store);
  tasks_.spawn([](bus::LocalBus& starting) -> Task<void> { (void)co_await starting.start(); }(bus));
  settle();
  Scheduler scheduler(Plugs{loop_, clock_, random_, *store, bus, gate_, log_}, {.alone = true},
                      pools());
  tasks_.spawn(
      [](Scheduler& starting) -> Task<void> { (void)co_await starting.start(); }(scheduler));
  settle();
  cap::BusPacket packet;
  packet.set_trace_id("t");
  packet.set_sender_id("w");
  packet.mutable_heartbeat()->set_worker_id("w");
  packet.mutable_heartbeat()->set_pool("default");
  (void)bus.publish(std::string(bus::kHeartbeatSubject), job::serialise(packet), {});
  packet.mutable_job_result()->set_job_id("job");
  packet.mutable_job_result()->set_worker_id("w");
  packet.mutable_job_result()->set_status(cap::JOB_STATUS_SUCCEEDED);
  auto worker = bus.subscribe("worker.w.jobs", {}, [&](bus::Delivery) -> Task<bus::Verdict> {
    (void)bus.publish(std::string(bus::kResultSubject), job::serialise(packet), {});
    co_return bus::Verdict::ack();
  });
  settle();

  const uint64_t before = store->statistics().commits;
  (void)bus.publish(std::string(bus::kSubmitSubject), submit_packet("job"), {});
  settle();
  EXPECT_EQ(store->jobs_in(job::State::kSucceeded), 1u);
  EXPECT_EQ(store->statistics().commits - before, 2u);
  bus.drop();
}

}  // namespace
}  // namespace fairlead::scheduler
