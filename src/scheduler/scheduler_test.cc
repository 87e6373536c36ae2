#include "scheduler/scheduler.h"

#include <stdexcept>

#include "cordum/agent/v1/buspacket.pb.h"
#include "job/request.h"
#include "routing/placement.h"
#include "scheduler/holding_bus.h"
#include "scheduler/packets.h"
#include "scheduler/replica_fixture.h"
#include "scheduler/wandering_bus.h"

namespace fairlead::scheduler {
namespace {

using namespace std::chrono_literals;

// Policy over a wire: it never answers about the job "slow", and allows any other.
class HangingGate final : public gate::Gate {
 public:
  Future<Result<job::Decision>> check(const cap::JobRequest& request, const job::Record&) override {
    if (request.job_id() == "slow") return never.future();
    job::Decision allow;
    allow.kind = job::Decision::Kind::kAllow;
    return Result<job::Decision>(allow);
  }
  bool in_process() const override { return false; }

  Completer<Result<job::Decision>> never;
};

class SchedulerTest : public ReplicaTest {
 protected:
  HangingGate far_gate_;
};

TEST_F(SchedulerTest, BeginsNothingNewWhileItStops) {
  HangingGate gate;
  ASSERT_TRUE(run(bus_.start()));
  Scheduler scheduler(plugs(gate), {}, pools());
  ASSERT_TRUE(run(scheduler.start()));
  submit("slow");
  ASSERT_EQ(scheduler.in_hand(), 1u);

  cap::JobRequest request;
  request.set_job_id("due");
  request.set_topic("job.default");
  store::Change admission;
  *admission.next = job::new_record(request, TraceId("t"), clock_.wall());
  admission.next->due = clock_.wall() + 1s;
  admission.path = {job::State::kPending};
  admission.request = job::serialise(request);
  ASSERT_TRUE(store_.apply(std::move(admission)).await_resume());

  tasks_.spawn(scheduler.stop(10s));
  loop_.run_for(5s);
  EXPECT_EQ(stored("due")->revision, Revision(1));
  EXPECT_EQ(scheduler.in_hand(), 1u);
  loop_.run_for(6s);
  EXPECT_EQ(scheduler.in_hand(), 0u);
  bus_.drop();
}

// A scheduler with one worker, which takes every job and never answers.
class CountingTest : public ReplicaTest {
 protected:
  CountingTest() : scheduler_(plugs(gate_), {}, pools()) {
    EXPECT_TRUE(run(bus_.start()));
    EXPECT_TRUE(run(scheduler_.start()));
    auto take = [](bus::Delivery) -> Task<bus::Verdict> { co_return bus::Verdict::ack(); };
    worker_ = *bus_.subscribe("worker.w1.jobs", {}, take);
  }
  ~CountingTest() override { bus_.drop(); }

  void publish(std::string_view subject, cap::BusPacket packet) {
    packet.set_trace_id("t");
    packet.set_sender_id("somebody");
    (void)bus_.publish(std::string(subject), job::serialise(packet), {});
    loop_.run_ready();
  }
  void beat() {
    cap::BusPacket packet;
    packet.mutable_heartbeat()->set_worker_id("w1");
    packet.mutable_heartbeat()->set_pool("default");
    packet.mutable_heartbeat()->set_max_parallel_jobs(4);
    publish(bus::kHeartbeatSubject, packet);
  }
  void submit(const char* job) {
    cap::BusPacket packet;
    packet.mutable_job_request()->set_job_id(job);
    packet.mutable_job_request()->set_topic("job.default");
    publish(bus::kSubmitSubject, packet);
  }
  job::State state_of(const char* job) {
    return store_.load(JobId(job), {}).await_resume()->record->state;
  }
  uint64_t stale(job::State state) const {
    for (const auto& series : scheduler_.metrics().series(Gauge::kStaleJobs)) {
      if (series.values[0] == job::to_string(state)) return series.count;
    }
    return 0;
  }

  Scheduler scheduler_;
  std::unique_ptr<bus::Subscription> worker_;
};

TEST_F(CountingTest, H64_TheStaleGaugeShowsWhatASweepFoundOutForTooLong) {
  beat();
  submit("j1");
  submit("j2");
  ASSERT_EQ(state_of("j1"), job::State::kRunning);
  EXPECT_EQ(stale(job::State::kRunning), 0u);
  for (int steps = 0; steps < 10'000 && state_of("j1") == job::State::kRunning; ++steps) {
    loop_.run_for(limits::kSweepEvery);
  }
  EXPECT_EQ(state_of("j1"), job::State::kTimeout);
  EXPECT_EQ(stale(job::State::kRunning), 2u);
  EXPECT_EQ(stale(job::State::kDispatched), 0u);
  loop_.run_for(limits::kSweepEvery);
  EXPECT_EQ(stale(job::State::kRunning), 0u);
}

TEST_F(CountingTest, ConstraintsThatCannotBeReadAreCounted) {
  job::Decision decision;
  decision.kind = job::Decision::Kind::kAllowWithConstraints;
  decision.constraints = "\xff";
  gate_.decide(Topic("job.default"), decision);
  beat();
  submit("j1");
  EXPECT_EQ(state_of("j1"), job::State::kRunning);
  EXPECT_EQ(scheduler_.metrics().value(Counter::kConstraintsSerialiseFailed), 1u);
}

TEST_F(CountingTest, TheTimeBetweenTwoHeartbeatsOfAWorkerIsObserved) {
  beat();
  loop_.run_for(5s);
  beat();
  loop_.run_for(12s);
  beat();
  const auto& lag = scheduler_.metrics().distributions(Histogram::kHeartbeatLag).at(0);
  EXPECT_EQ(lag.count, 2u);
  EXPECT_DOUBLE_EQ(lag.sum, 17);
}

TEST_F(SchedulerTest, ASubmitOfItsOwnProcessIsInTheStoreWhenItIsAnswered) {
  ASSERT_TRUE(run(bus_.start()));
  Scheduler scheduler(plugs(gate_), {}, pools());
  ASSERT_TRUE(run(scheduler.start()));
  auto answer = scheduler.submit(submit_packet("j1"));
  loop_.run_ready();
  ASSERT_TRUE(answer.await_ready());
  EXPECT_EQ(*answer.await_resume(), bus::Published::kStored);
  EXPECT_NE(store_.load(JobId("j1"), {}).await_resume()->record, nullptr);
  bus_.drop();
}

TEST_F(SchedulerTest, ASubmitOfItsOwnProcessIsToldItsRecordWithoutAnotherLook) {
  for (gate::Gate* gate : std::initializer_list<gate::Gate*>{&gate_, &far_gate_}) {
    if (gate == &gate_) ASSERT_TRUE(run(bus_.start()));
    Scheduler scheduler(plugs(*gate), {}, pools());
    ASSERT_TRUE(run(scheduler.start()));
    const std::string job = gate == &gate_ ? "near" : "far";
    auto admitted = std::make_shared<store::Snapshot>();
    auto answer = scheduler.submit(submit_packet(job), admitted);
    loop_.run_ready();
    EXPECT_EQ(*answer.await_resume(), bus::Published::kStored);
    ASSERT_TRUE(*admitted);
    EXPECT_EQ((*admitted)->id, JobId(job));
    auto again = std::make_shared<store::Snapshot>();
    auto second = scheduler.submit(submit_packet(job), again);
    loop_.run_ready();
    EXPECT_EQ(*second.await_resume(), bus::Published::kStored);
    ASSERT_TRUE(*again);
    EXPECT_EQ((*again)->id, JobId(job));
  }
  bus_.drop();
}

TEST_F(SchedulerTest, SubmitsOfItsOwnProcessArePushedBackWhenTooManyAreUnderWay) {
  HangingGate gate;
  ASSERT_TRUE(run(bus_.start()));
  Scheduler scheduler(plugs(gate), {}, pools());
  ASSERT_TRUE(run(scheduler.start()));
  std::string key = store::job_lease_key(JobId("held"));
  ASSERT_TRUE(*store_.acquire(key, {"other.1.x", 60s}).await_resume());
  std::vector<Future<Result<bus::Published>>> answers;
  for (size_t i = 0; i < limits::kHandlersInFlightMax; ++i) {
    answers.push_back(scheduler.submit(submit_packet("held")));
  }
  auto one_more = scheduler.submit(submit_packet("j1"));
  ASSERT_TRUE(one_more.await_ready());
  EXPECT_EQ(*one_more.await_resume(), bus::Published::kRefused);
  loop_.run_for(10s);
  ASSERT_TRUE(answers[0].await_ready());
  EXPECT_EQ(answers[0].await_resume().error().code, ErrorCode::kUnavailable) << "the lock is busy";
  auto later = scheduler.submit(submit_packet("j1"));
  loop_.run_ready();
  ASSERT_TRUE(later.await_ready());
  EXPECT_EQ(*later.await_resume(), bus::Published::kStored);
  bus_.drop();
}

TEST_F(SchedulerTest, H01_WhatComesWhileWeStopIsLeftToTheNextLife) {
  ASSERT_TRUE(run(bus_.start()));
  HoldingBus bus(bus_);
  auto first = std::make_unique<Scheduler>(plugs_with(bus), Settings{}, pools());
  ASSERT_TRUE(run(first->start()));
  beat("w1", 4, 0);
  submit("j1");
  bus.held.at(0).complete(bus::Published::kStored);
  loop_.run_ready();
  ASSERT_EQ(stored("j1")->state, job::State::kRunning);

  tasks_.spawn(first->stop(10s));
  loop_.run_ready();
  answer("w1", "j1");
  submit("j2");
  EXPECT_EQ(stored("j1")->state, job::State::kRunning);
  EXPECT_FALSE(stored("j2"));
  first.reset();

  Scheduler next(plugs_with(bus), {}, pools());
  ASSERT_TRUE(run(next.start()));
  loop_.run_for(1s);
  EXPECT_EQ(stored("j1")->state, job::State::kSucceeded);
  EXPECT_TRUE(stored("j2"));
  bus_.drop();
}

TEST_F(SchedulerTest, H37_ADispatchThatIsRefusedWhileWeStopIsRolledBack) {
  ASSERT_TRUE(run(bus_.start()));
  HoldingBus bus(bus_);
  Scheduler scheduler(plugs_with(bus), {}, pools());
  ASSERT_TRUE(run(scheduler.start()));
  beat("w1", 4, 0);
  submit("j1");
  ASSERT_EQ(stored("j1")->state, job::State::kDispatched);

  tasks_.spawn(scheduler.stop(10s));
  loop_.run_for(1s);
  bus.held.at(0).complete(bus::Published::kRefused);
  loop_.run_for(1s);
  EXPECT_EQ(stored("j1")->state, job::State::kScheduled);
  EXPECT_EQ(stored("j1")->wait->reason, job::ReasonCode::kPublishFailed);
  EXPECT_EQ(scheduler.in_hand(), 0u);
  EXPECT_TRUE(*store_.acquire(store::job_lease_key(JobId("j1")), {"other.1.x", 60s}).await_resume())
      << "its lease is given back";
  bus_.drop();
}

TEST_F(SchedulerTest, H37_ADispatchThatAStopCutsOffIsMadeAgainInTheNextLife) {
  ASSERT_TRUE(run(bus_.start()));
  HoldingBus bus(bus_);
  auto first = std::make_unique<Scheduler>(plugs_with(bus), Settings{}, pools());
  ASSERT_TRUE(run(first->start()));
  beat("w1", 4, 0);
  submit("j1");
  tasks_.spawn(first->stop(1s));
  loop_.run_for(2s);
  EXPECT_EQ(first->in_hand(), 0u);
  first.reset();
  EXPECT_EQ(stored("j1")->state, job::State::kDispatched);
  EXPECT_TRUE(stored("j1")->publish_pending);

  Scheduler next(plugs_with(bus), {}, pools());
  ASSERT_TRUE(run(next.start()));
  beat("w1", 4, 0);
  loop_.run_for(limits::kAliveTtl + limits::kUnpublishedAfter + 1s);
  EXPECT_EQ(stored("j1")->epoch, Epoch(2));
  bus_.drop();
}

TEST_F(SchedulerTest, H40_ASecondDeadLetterOfAJobIsNotTakenForARepeatOfTheFirst) {
  ASSERT_TRUE(run(bus_.start()));
  std::vector<std::string> heard;
  bus::SubscribeOptions options;
  options.queue = "listener";
  auto subscription = bus_.subscribe(std::string(bus::kDeadLetterSubject), options,
                                     [&](bus::Delivery delivery) -> Task<bus::Verdict> {
                                       cap::BusPacket packet;
                                       packet.ParseFromString(delivery.payload);
                                       heard.push_back(packet.job_result().error_code());
                                       co_return bus::Verdict::ack();
                                     });
  ASSERT_TRUE(subscription);
  job::Record record;
  record.id = JobId("j1");
  record.state = job::State::kFailed;
  record.error_code = "first";
  record.revision = Revision(4);
  store::Message first = dead_letter_message(record, clock_.wall());
  record.error_code = "second";
  record.revision = Revision(9);
  store::Message second = dead_letter_message(record, clock_.wall());
  for (const store::Message& message : {first, second, first}) {
    (void)bus_.publish(message.subject, message.payload, message.id);
    loop_.run_ready();
  }
  EXPECT_EQ(heard, (std::vector<std::string>{"first", "second"}));
  bus_.drop();
}

TEST_F(SchedulerTest, AWorkerThatLostWhatOthersGaveItIsFoundOut) {
  ASSERT_TRUE(run(bus_.start()));
  Scheduler scheduler(plugs(gate_), {}, pools());
  ASSERT_TRUE(run(scheduler.start()));
  beat("w1", 1, 1);
  store::Change theirs;
  theirs.next->id = JobId("theirs");
  theirs.next->state = job::State::kRunning;
  theirs.next->tenant = TenantId("default");
  theirs.next->assignee = WorkerId("w1");
  theirs.next->epoch = Epoch(1);
  theirs.next->created_at = theirs.next->updated_at = theirs.next->dispatched_at = clock_.wall();
  theirs.path = {job::State::kPending, job::State::kScheduled, job::State::kDispatched,
                 job::State::kRunning};
  ASSERT_TRUE(store_.apply(std::move(theirs)).await_resume());

  beat("w1", 1, 0);  // it restarted
  submit("mine");
  EXPECT_EQ(stored("mine")->wait->reason, job::ReasonCode::kPoolOverloaded);
  for (int i = 0; i < 4; ++i) {
    loop_.run_for(2s);
    beat("w1", 1, 0);
  }
  EXPECT_EQ(stored("mine")->epoch, Epoch(1)) << "it was dispatched";
  bus_.drop();
}

// A gate that throws about the job "mine".
class ThrowingGate final : public gate::Gate {
 public:
  bool in_process() const override { return true; }
  Future<Result<job::Decision>> check(const cap::JobRequest& request, const job::Record&) override {
    if (request.job_id() == "mine") throw std::runtime_error("no such rule");
    job::Decision allow;
    allow.kind = job::Decision::Kind::kAllow;
    return Result<job::Decision>(allow);
  }
};

class ErrorLog final : public Log {
 public:
  void write(Level level, std::string_view phrase, std::initializer_list<Field>) override {
    if (level == Level::kError) phrases.emplace_back(phrase);
  }
  std::vector<std::string> phrases;
};

TEST_F(SchedulerTest, IN3_WhatAHandlerThrowsIsLoggedAndTheMessageComesAgain) {
  ThrowingGate gate;
  ErrorLog log;
  ASSERT_TRUE(run(bus_.start()));
  Scheduler scheduler({loop_, clock_, random_, store_, bus_, gate, log}, {}, pools());
  ASSERT_TRUE(run(scheduler.start()));
  submit("mine");
  EXPECT_EQ(log.phrases, std::vector<std::string>{"scheduler packet handler panic"});
  loop_.run_for(1100ms);
  EXPECT_EQ(log.phrases.size(), 2u);
  submit("other");
  EXPECT_TRUE(stored("other"));
  bus_.drop();
}

TEST_F(SchedulerTest, IN3_WhatThePathOfThisProcessThrowsIsAnError) {
  ThrowingGate gate;
  ErrorLog log;
  ASSERT_TRUE(run(bus_.start()));
  Scheduler scheduler({loop_, clock_, random_, store_, bus_, gate, log}, {}, pools());
  ASSERT_TRUE(run(scheduler.start()));
  cap::BusPacket packet;
  packet.set_trace_id("t");
  packet.set_sender_id("api");
  packet.mutable_job_request()->set_job_id("mine");
  packet.mutable_job_request()->set_topic("job.default");
  const std::string bytes = job::serialise(packet);
  // As often as submits may be under way at once: each must be counted off again.
  for (size_t i = 0; i <= limits::kHandlersInFlightMax; ++i) {
    auto answer = scheduler.submit(bytes);
    loop_.run_ready();
    ASSERT_TRUE(answer.await_ready());
    auto published = answer.await_resume();
    ASSERT_FALSE(published) << i;
    ASSERT_EQ(published.error().message, "scheduler packet handler panic") << i;
  }
  EXPECT_EQ(log.phrases.front(), "scheduler packet handler panic");
  bus_.drop();
}

TEST_F(SchedulerTest, ADispatchThatTheBusCannotBeAskedAboutIsNotAskedAboutWithoutPause) {
  struct DeafBus final : bus::Bus {
    explicit DeafBus(bus::Bus& given) : bus(given) {}
    std::optional<MonotonicTime> listening_since() const override { return bus.listening_since(); }
    Future<Result<bus::Published>> publish(std::string subject, std::string payload,
                                           std::string id) override {
      if (!routing::worker_of_subject(subject).empty()) return bus::Published::kUnknown;
      return bus.publish(std::move(subject), std::move(payload), std::move(id));
    }
    Future<Result<std::optional<bool>>> stored(std::string, std::string) override {
      ++asked;
      return fail(ErrorCode::kUnavailable, "no stream");
    }
    Result<std::unique_ptr<bus::Subscription>> subscribe(std::string subject,
                                                         bus::SubscribeOptions options,
                                                         bus::Handler handler) override {
      return bus.subscribe(std::move(subject), std::move(options), std::move(handler));
    }
    bus::Bus& bus;
    int asked = 0;
  } deaf(bus_);
  ASSERT_TRUE(run(bus_.start()));
  Scheduler scheduler(plugs_with(deaf), {}, pools());
  ASSERT_TRUE(run(scheduler.start()));
  beat("w1", 4, 0);
  submit("j1");
  loop_.run_for(12s);
  EXPECT_GE(deaf.asked, 5);
  EXPECT_LE(deaf.asked, 12);
  bus_.drop();
}

TEST_F(SchedulerTest, WorkersAreNotLostWhileItIsDeafNorBeforeTheyCouldBeHeardAgain) {
  WanderingBus bus(bus_, loop_);
  ASSERT_TRUE(run(bus_.start()));
  Scheduler scheduler(plugs_with(bus), {}, pools());
  ASSERT_TRUE(run(scheduler.start()));
  beat("w", 10, 0);
  cap::BusPacket packet;
  packet.mutable_job_request()->set_job_id("job");
  packet.mutable_job_request()->set_topic("job.default");
  (*packet.mutable_job_request()->mutable_labels())["retry_on_worker_loss"] = "true";
  send(bus::kSubmitSubject, std::move(packet));
  ASSERT_EQ(stored("job")->state, job::State::kRunning);

  bus.go();
  loop_.run_for(5min);
  EXPECT_EQ(stored("job")->state, job::State::kRunning);
  bus.come_back();
  loop_.run_for(limits::kWorkerTtl - 1s);
  EXPECT_EQ(stored("job")->state, job::State::kRunning);
  EXPECT_FALSE(stored("job")->worker_lost);
  EXPECT_EQ(bus.dispatches.size(), 1u);
  // It is silent all the same, and now that says something.
  loop_.run_for(2s);
  EXPECT_TRUE(stored("job")->worker_lost);
}

TEST_F(SchedulerTest, NothingIsTriedNorCountedWhileThereIsNoBus) {
  WanderingBus bus(bus_, loop_);
  ASSERT_TRUE(run(bus_.start()));
  Scheduler scheduler(plugs_with(bus), {}, pools());
  ASSERT_TRUE(run(scheduler.start()));
  submit("waiting");
  EXPECT_EQ(stored("waiting")->wait->reason, job::ReasonCode::kNoWorkers);
  beat("w", 10, 0);
  loop_.run_ready();
  bus.goes_at_dispatch = true;
  submit("surprised");
  EXPECT_EQ(stored("surprised")->state, job::State::kScheduled);
  const uint32_t before = stored("surprised")->attempts;
  submit("late");
  EXPECT_EQ(stored("late")->state, job::State::kPending);
  loop_.run_for(20min);
  EXPECT_EQ(stored("surprised")->attempts, before);
  EXPECT_EQ(before, 0u);
  EXPECT_EQ(stored("late")->attempts, 0u);
  const size_t dispatches = bus.dispatches.size();

  bus.goes_at_dispatch = false;
  bus.come_back();
  beat("w", 10, 0);
  loop_.run_for(3s);
  EXPECT_EQ(bus.dispatches.size(), dispatches + 2);
  EXPECT_EQ(stored("surprised")->state, job::State::kRunning);
  EXPECT_EQ(stored("late")->state, job::State::kRunning);
}

TEST_F(SchedulerTest, DSP2_AJobThatFoundNoBusWaitsTwoSeconds) {
  WanderingBus bus(bus_, loop_);
  ASSERT_TRUE(run(bus_.start()));
  Scheduler scheduler(plugs_with(bus), {}, pools());
  ASSERT_TRUE(run(scheduler.start()));
  beat("w", 10, 0);
  bus.goes_at_dispatch = true;
  submit("surprised");
  submit("late");
  for (const char* job : {"surprised", "late"}) {
    EXPECT_EQ(stored(job)->wait->reason, job::ReasonCode::kPublishFailed) << job;
    EXPECT_EQ(*stored(job)->due - stored(job)->updated_at, 2s) << job;
  }
}

TEST_F(SchedulerTest, AStopWaitsForTheHandlersOfMessages) {
  ASSERT_TRUE(run(bus_.start()));
  Scheduler scheduler(plugs(gate_), {}, pools());
  ASSERT_TRUE(run(scheduler.start()));
  // The handler of its submit waits for its lease.
  std::string key = store::job_lease_key(JobId("held"));
  ASSERT_TRUE(*store_.acquire(key, {"other.1.x", 60s}).await_resume());
  submit("held");
  EXPECT_EQ(scheduler.in_hand(), 1u);
  bool stopped = false;
  tasks_.spawn([](Scheduler& which, bool& done) -> Task<void> {
    co_await which.stop(10s);
    done = true;
  }(scheduler, stopped));
  loop_.run_for(500ms);
  EXPECT_FALSE(stopped);
  (void)store_.release(key, "other.1.x");
  loop_.run_for(500ms);
  EXPECT_TRUE(stopped);
  EXPECT_TRUE(stored("held"));
  EXPECT_EQ(scheduler.in_hand(), 0u);
  bus_.drop();
}

}  // namespace
}  // namespace fairlead::scheduler
