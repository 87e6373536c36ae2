// Messages about one job that are handled at the same time.
#include "scheduler/replica_fixture.h"
#include "scheduler/scheduler.h"
#include "scheduler/stream_bus.h"

namespace fairlead::scheduler {
namespace {

using namespace std::chrono_literals;

// A store whose readers see what was there a moment ago, as several at once do.
class SlowStore final : public store::MemoryStore {
 public:
  SlowStore(const Clock& clock, Loop& loop) : MemoryStore(clock), loop_(loop) {}
  store::Answer<store::Loaded> load(const JobId& job, store::LoadOptions options) override {
    auto answer = std::make_shared<Completer<Result<store::Loaded>>>();
    auto future = answer->future();
    auto loaded = MemoryStore::load(job, std::move(options)).await_resume();
    loop_.call_at(loop_.now() + 1ms, [answer, loaded = std::move(loaded)]() mutable {
      answer->complete(std::move(loaded));
    });
    return future;
  }

 private:
  Loop& loop_;
};

class RaceTest : public ReplicaTest {
 protected:
  RaceTest() {
    EXPECT_TRUE(run(bus_.start()));
    EXPECT_TRUE(run(scheduler_.start()));
    beat("w", 10, 0);
    submit("job");
    loop_.run_for(100ms);
    EXPECT_EQ(state(), job::State::kRunning);
  }
  ~RaceTest() override { bus_.drop(); }

  job::State state() { return slow_.all().at(0).state; }
  void deliver(std::string_view subject, cap::BusPacket packet) {
    packet.set_trace_id("t");
    packet.set_sender_id("w");
    bus::Delivery delivery{.subject = std::string(subject),
                           .payload = job::serialise(packet),
                           .sequence = Sequence(++sequence_),
                           .stored_at = clock_.wall()};
    tasks_.spawn(note(stream_.handlers.at(std::string(subject))(std::move(delivery))));
  }
  Task<void> note(Task<bus::Verdict> handling) {
    const bus::Verdict verdict = co_await std::move(handling);
    acknowledged_ += verdict.kind == bus::Verdict::Kind::kAck;
  }
  void deliver_result() {
    cap::BusPacket packet;
    packet.mutable_job_result()->set_job_id("job");
    packet.mutable_job_result()->set_worker_id("w");
    packet.mutable_job_result()->set_status(cap::JOB_STATUS_SUCCEEDED);
    deliver(bus::kResultSubject, std::move(packet));
  }
  void deliver_cancel() {
    cap::BusPacket packet;
    packet.mutable_job_cancel()->set_job_id("job");
    deliver(bus::kCancelSubject, std::move(packet));
  }
  uint64_t completed() const { return scheduler_.metrics().value(Counter::kJobsCompleted); }

  uint64_t sequence_ = 100;
  int acknowledged_ = 0;
  SlowStore slow_{clock_, loop_};
  StreamBus stream_{bus_};
  std::unique_ptr<bus::Subscription> worker_ =
      *bus_.subscribe("worker.w.jobs", {},
                      [](bus::Delivery) -> Task<bus::Verdict> { co_return bus::Verdict::ack(); });
  Scheduler scheduler_{{loop_, clock_, random_, slow_, stream_, gate_, log_}, {}, pools()};
};

TEST_F(RaceTest, RES3_OfFiveResultsAtOnceAllAreAcknowledgedAndOneIsApplied) {
  for (int i = 0; i < 5; ++i) deliver_result();
  loop_.run_for(1s);
  EXPECT_EQ(acknowledged_, 5);
  EXPECT_EQ(state(), job::State::kSucceeded);
  EXPECT_EQ(completed(), 1u);
}

TEST_F(RaceTest, CAN4_ACancelThatComesJustBeforeAResultEndsTheJob) {
  deliver_cancel();
  deliver_result();
  loop_.run_for(1s);
  EXPECT_EQ(acknowledged_, 2);
  EXPECT_EQ(state(), job::State::kCancelled);
  EXPECT_EQ(completed(), 1u);
}

TEST_F(RaceTest, CAN4_AResultThatComesJustBeforeACancelEndsTheJob) {
  deliver_result();
  deliver_cancel();
  loop_.run_for(1s);
  EXPECT_EQ(acknowledged_, 2);
  EXPECT_EQ(state(), job::State::kSucceeded);
  EXPECT_EQ(completed(), 1u);
}

}  // namespace
}  // namespace fairlead::scheduler
