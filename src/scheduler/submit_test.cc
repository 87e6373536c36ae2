#include "scheduler/submit.h"

#include "cordum/agent/v1/buspacket.pb.h"
#include "job/request.h"
#include "job/wire_fields.h"
#include "scheduler/replica_fixture.h"
#include "scheduler/scheduler.h"
#include "scheduler/stream_bus.h"

namespace fairlead::scheduler {
namespace {

using job::State;

job::Record record(State state, const char* hash = "same") {
  job::Record record;
  record.state = state;
  record.request_hash = hash;
  return record;
}

TEST(RedeliveryGate, AcknowledgesWhatIsOnItsWayOrOver) {
  for (State state : {State::kDispatched, State::kRunning, State::kApprovalRequired,
                      State::kSucceeded, State::kFailed, State::kTimeout, State::kCancelled,
                      State::kDenied, State::kOutputQuarantined}) {
    EXPECT_EQ(redelivery_gate(record(state), record(State::kPending), {}), GateStep::kAcknowledge)
        << job::to_string(state);
  }
}

TEST(RedeliveryGate, ResumesWhatWaits) {
  for (State state : {State::kPending, State::kScheduled, State::kRetrying}) {
    EXPECT_EQ(redelivery_gate(record(state), record(State::kPending), {}), GateStep::kResume)
        << job::to_string(state);
  }
}

TEST(RedeliveryGate, LeavesAJobAloneUntilItIsTimeForItsNextTry) {
  WallTime due = wall_time_from_micros(1000);
  job::Record known = record(State::kRetrying);
  known.due = due;
  known.wait = job::Wait{job::ReasonCode::kWorkerRetry, {}, {}, {}, {}};
  job::Record again = record(State::kPending);
  EXPECT_EQ(redelivery_gate(known, again, due - Duration(1)), GateStep::kAcknowledge);
  EXPECT_EQ(redelivery_gate(known, again, due), GateStep::kResume);
  known.wait->wait_class = "pools=default";
  EXPECT_EQ(redelivery_gate(known, again, due - Duration(1)), GateStep::kResume);
}

TEST(RedeliveryGate, ResolvesADispatchThatMayNeverHaveBeenPublished) {
  job::Record known = record(State::kDispatched);
  known.publish_pending = true;
  EXPECT_EQ(redelivery_gate(known, record(State::kPending), {}), GateStep::kResolveUnpublished);
}

TEST(RedeliveryGate, RefusesOtherContentInEveryState) {
  for (State state : job::kAllStates) {
    EXPECT_EQ(redelivery_gate(record(state), record(State::kPending, "other"), {}),
              GateStep::kRefuse);
  }
}

// A gate in process that thinks for as long as a test likes.
class SlowGate final : public gate::Gate {
 public:
  Future<Result<job::Decision>> check(const cap::JobRequest&, const job::Record&) override {
    return answer.future();
  }
  bool in_process() const override { return true; }

  Completer<Result<job::Decision>> answer;
};

class SubmitTest : public ReplicaTest {};

TEST_F(SubmitTest, ATraceWithoutEndIsRejected) {
  ASSERT_TRUE(run(bus_.start()));
  Scheduler scheduler(plugs(gate_), {}, pools());
  ASSERT_TRUE(run(scheduler.start()));
  for (size_t bytes : {limits::kTraceIdBytesMax, limits::kTraceIdBytesMax + 1}) {
    cap::BusPacket packet;
    packet.set_trace_id(std::string(bytes, 't'));
    packet.set_sender_id("client");
    packet.mutable_job_request()->set_job_id("j" + std::to_string(bytes));
    packet.mutable_job_request()->set_topic("job.default");
    (void)bus_.publish(std::string(bus::kSubmitSubject), job::serialise(packet), {});
  }
  loop_.run_ready();
  EXPECT_TRUE(store_.load(JobId("j256"), {}).await_resume()->record);
  EXPECT_FALSE(store_.load(JobId("j257"), {}).await_resume()->record);
  EXPECT_EQ(scheduler.metrics().value(Counter::kValidationRejections), 1u);
  bus_.drop();
}

TEST_F(SubmitTest, H12_AJobWhoseLeaseWasLostOnTheWayIsNotAcknowledged) {
  SlowGate gate;
  ASSERT_TRUE(run(bus_.start()));
  Scheduler scheduler(plugs(gate), {}, pools());
  ASSERT_TRUE(run(scheduler.start()));
  submit("j1");

  // Somebody else has the lease by the time that policy answers.
  std::string key = store::job_lease_key(JobId("j1"));
  (void)store_.release(key, store_.table().leases().holder(key));
  ASSERT_TRUE(*store_.acquire(key, {"other.1.x", limits::kJobLeaseTtl}).await_resume());
  job::Decision allow;
  allow.kind = job::Decision::Kind::kAllow;
  gate.answer.complete(allow);
  loop_.run_ready();

  EXPECT_FALSE(store_.load(JobId("j1"), {}).await_resume()->record);
  EXPECT_EQ(bus_.counters().acked, 0u);
  EXPECT_EQ(bus_.counters().naked, 1u);
  bus_.drop();
}

TEST_F(SubmitTest, LOCK2_AJobWhoseLeaseIsNotGivenBackInTwoSecondsComesAgainAfterHalfASecond) {
  ASSERT_TRUE(run(bus_.start()));
  StreamBus bus(bus_);
  Scheduler scheduler(plugs_with(bus), {}, pools());
  ASSERT_TRUE(run(scheduler.start()));
  const std::string key = store::job_lease_key(JobId("j1"));
  ASSERT_TRUE(*store_.acquire(key, {"of-another-service", limits::kJobLeaseTtl}).await_resume());
  std::optional<bus::Verdict> verdict;
  auto note = [](Task<bus::Verdict> handling, std::optional<bus::Verdict>& noted) -> Task<void> {
    noted = co_await std::move(handling);
  };
  bus::Delivery delivery{.subject = std::string(bus::kSubmitSubject),
                         .payload = submit_packet("j1")};
  tasks_.spawn(note(bus.handlers.at(delivery.subject)(delivery), verdict));
  loop_.run_for(limits::kLeaseWaitMax - Duration(1));
  EXPECT_FALSE(verdict);
  loop_.run_for(limits::kLeasePollEveryMax);
  ASSERT_TRUE(verdict);
  EXPECT_EQ(verdict->kind, bus::Verdict::Kind::kNak);
  EXPECT_EQ(verdict->delay, limits::kRetryBusy);
  EXPECT_FALSE(stored("j1"));
  bus_.drop();
}

TEST_F(SubmitTest, StoreAndWorkerGetTheVeryBytesOfTheRequest) {
  ASSERT_TRUE(run(bus_.start()));
  Scheduler scheduler(plugs(gate_), {}, pools());
  ASSERT_TRUE(run(scheduler.start()));
  std::string handed_over;
  auto worker =
      bus_.subscribe("worker.w.jobs", {}, [&](bus::Delivery delivery) -> Task<bus::Verdict> {
        handed_over = std::move(delivery.payload);
        co_return bus::Verdict::ack();
      });
  cap::BusPacket beat;
  beat.set_trace_id("t");
  beat.set_sender_id("w");
  beat.mutable_heartbeat()->set_worker_id("w");
  beat.mutable_heartbeat()->set_pool("default");
  (void)bus_.publish(std::string(bus::kHeartbeatSubject), job::serialise(beat), {});
  loop_.run_ready();

  // Fields in an order that no serialiser writes, and one of a protocol newer than ours.
  cap::JobRequest topic;
  topic.set_topic("job.default");
  cap::JobRequest id;
  id.set_job_id("j1");
  std::string request = topic.SerializeAsString() + "\x9a\x06\x03new" + id.SerializeAsString();
  cap::BusPacket packet;
  packet.set_trace_id("t");
  packet.set_sender_id("client");
  std::string bytes = packet.SerializeAsString();
  job::append_message(bytes, cap::BusPacket::kJobRequestFieldNumber, {request});
  (void)bus_.publish(std::string(bus::kSubmitSubject), bytes, {});
  loop_.run_ready();

  EXPECT_EQ(store_.load(JobId("j1"), {.with_request = true}).await_resume()->request, request);
  EXPECT_TRUE(job::request_bytes(handed_over).starts_with(request));
  bus_.drop();
}

TEST_F(SubmitTest, AMessageThatTheBusGivesUpLeavesADeadLetter) {
  ASSERT_TRUE(run(bus_.start()));
  Scheduler scheduler(plugs(gate_), {}, pools());
  cap::BusPacket packet;
  packet.mutable_job_request()->set_job_id("j1");
  bus::Delivery delivery{.subject = std::string(bus::kSubmitSubject),
                         .payload = job::serialise(packet)};
  ASSERT_TRUE(run(scheduler.bury(std::move(delivery), "delivered too often")));
  auto letter = store_.dead_letter(JobId("j1")).await_resume();
  ASSERT_TRUE(letter && *letter);
  EXPECT_EQ((*letter)->reason, "sys.job.submit: delivered too often");
  EXPECT_EQ((*letter)->reason_code, "poison_message");
}

TEST_F(SubmitTest, AJobThatAnotherServiceWroteWithoutARequestTakesTheSubmittedOne) {
  ASSERT_TRUE(run(bus_.start()));
  Scheduler scheduler(plugs(gate_), {}, pools());
  ASSERT_TRUE(run(scheduler.start()));
  store::Change written;
  written.next->id = JobId("j1");
  written.next->state = State::kPending;
  written.next->created_at = written.next->updated_at = clock_.wall();
  written.path = {State::kPending};
  ASSERT_TRUE(store_.apply(std::move(written)).await_resume());

  submit("j1");
  auto loaded = store_.load(JobId("j1"), {.with_request = true}).await_resume();
  EXPECT_EQ(scheduler.metrics().value(Counter::kResubmitConflicts), 0u);
  EXPECT_EQ(loaded->record->wait->reason, job::ReasonCode::kNoWorkers);
  EXPECT_EQ(loaded->record->topic, Topic("job.default"));
  EXPECT_EQ(loaded->record->tenant, TenantId("default"));
  EXPECT_EQ(loaded->record->trace, TraceId("t"));
  EXPECT_NE(loaded->record->request_hash, "");
  EXPECT_NE(loaded->request, "");
  bus_.drop();
}

}  // namespace
}  // namespace fairlead::scheduler
