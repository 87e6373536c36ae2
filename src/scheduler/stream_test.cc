// Messages that a stream delivers, perhaps again.
#include <map>
#include <set>
#include <string>
#include <vector>

#include <gmock/gmock.h>

#include "cordum/agent/v1/buspacket.pb.h"
#include "job/request.h"
#include "scheduler/replica_fixture.h"
#include "scheduler/scheduler.h"
#include "scheduler/stream_bus.h"

namespace fairlead::scheduler {
namespace {

namespace cap = cordum::agent::v1;
using namespace std::chrono_literals;
using testing::ElementsAre;
using testing::IsEmpty;

// Keeps what it is told of messages that are being handled.
class NotingStore final : public store::MemoryStore {
 public:
  using MemoryStore::MemoryStore;
  store::Answer<store::Loaded> load(const JobId& job, store::LoadOptions options) override {
    if (job == senseless && !applies_senseless) return fail(ErrorCode::kCorrupt, "senseless");
    if (!options.mark.empty()) {
      noted.push_back(options.mark);
      in_flight.insert(options.mark);
    }
    return MemoryStore::load(job, std::move(options));
  }
  store::Answer<store::Receipt> apply(store::Change change) override {
    const bool runs = change.next->state == job::State::kRunning;
    if (change.next->id == senseless && (runs || !only_running)) {
      ++refused;
      return fail(ErrorCode::kCorrupt, "senseless");
    }
    if (change.was_in_flight) in_flight.erase(change.mark);
    return MemoryStore::apply(std::move(change));
  }

  store::Answer<store::Page> scan(store::Query query) override {
    if (scans_fail) return fail(ErrorCode::kUnavailable, "no answer");
    return MemoryStore::scan(std::move(query));
  }

  bool scans_fail = false;
  JobId senseless;                 // of which nothing can be read, nor written
  bool applies_senseless = false;  // of which nothing can be written
  bool only_running = false;       // that it runs cannot be written
  int refused = 0;
  std::vector<std::string> noted;  // ever
  std::set<std::string> in_flight;
};

class PhraseLog final : public Log {
 public:
  void write(Level, std::string_view phrase, std::initializer_list<Field>) override {
    ++said[std::string(phrase)];
  }
  std::map<std::string, int> said;
};

class StreamTest : public ReplicaTest {
 protected:
  StreamTest() {
    EXPECT_TRUE(run(bus_.start()));
    EXPECT_TRUE(run(scheduler_.start()));
  }
  ~StreamTest() override { bus_.drop(); }

  bus::Verdict deliver(const std::string& job, uint32_t deliveries, Duration age = {}) {
    bus::Delivery delivery{.subject = std::string(bus::kSubmitSubject),
                           .payload = submit_packet(job),
                           .sequence = Sequence(7),
                           .stored_at = clock_.wall() - age,
                           .deliveries = deliveries,
                           .mark = "durable:stream:" + job};
    return run(stream_.handlers.at(std::string(bus::kSubmitSubject))(std::move(delivery)));
  }
  store::Snapshot stored(const std::string& job) {
    return noting_.load(JobId(job), {}).await_resume()->record;
  }
  bool is_processed(const std::string& job) {
    return noting_.processed({"durable:stream:" + job}).await_resume()->front();
  }

  NotingStore noting_{clock_};
  StreamBus stream_{bus_};
  Scheduler scheduler_{{loop_, clock_, random_, noting_, stream_, gate_, log_}, {}, pools()};
};

TEST_F(StreamTest, TheCommitThatAnswersAMessageSaysSo) {
  EXPECT_EQ(deliver("job", 1).kind, bus::Verdict::Kind::kAck);
  EXPECT_TRUE(is_processed("job"));
}

TEST_F(StreamTest, AMessageThatComesAgainIsAcknowledgedUnhandledIfAChangeHasAnsweredIt) {
  deliver("job", 1);
  const Revision before = stored("job")->revision;
  EXPECT_EQ(deliver("job", 2).kind, bus::Verdict::Kind::kAck);
  EXPECT_EQ(stored("job")->revision, before);
  EXPECT_EQ(scheduler_.metrics().value(Counter::kMessagesProcessedBefore), 1u);
  EXPECT_EQ(deliver("other", 2).kind, bus::Verdict::Kind::kAck);
  EXPECT_TRUE(stored("other")) << "nobody had answered this one";
}

TEST_F(StreamTest, ASubmitOfAnUnknownJobThatIsOlderThanJobsAreKeptIsBuried) {
  EXPECT_EQ(deliver("old", 1, limits::kEndedJobTtl + 1s).kind, bus::Verdict::Kind::kAck);
  EXPECT_FALSE(stored("old"));
  EXPECT_TRUE(noting_.dead_letter(JobId("old")).await_resume()->has_value());
  EXPECT_EQ(deliver("young", 1, limits::kEndedJobTtl - 1s).kind, bus::Verdict::Kind::kAck);
  EXPECT_TRUE(stored("young"));
}

TEST_F(StreamTest, ASubmitOfAJobThatTheStoreFindsSenselessIsGivenUpAfterAFewTries) {
  for (bool loads : {false, true}) {
    noting_.senseless = JobId(loads ? "unwritten" : "unread");
    noting_.applies_senseless = loads;
    const std::string job = noting_.senseless.str();
    for (uint32_t delivery = 1; delivery <= limits::kPoisonDeliveriesMax; ++delivery) {
      const bus::Verdict verdict = deliver(job, delivery);
      EXPECT_EQ(verdict.kind, bus::Verdict::Kind::kNak);
      EXPECT_FALSE(verdict.blameless) << "or it would come for ever";
    }
    EXPECT_EQ(deliver(job, limits::kPoisonDeliveriesMax + 1).kind, bus::Verdict::Kind::kTerminate);
  }
  EXPECT_EQ(noting_.dead_letters({}, 10).await_resume()->size(), 2u);
}

TEST_F(StreamTest, AResultForAJobThatTheStoreFindsSenselessIsGivenUpAfterAFewTries) {
  noting_.senseless = JobId("job");
  cap::BusPacket packet;
  packet.set_trace_id("t");
  packet.set_sender_id("w");
  packet.mutable_job_result()->set_job_id("job");
  packet.mutable_job_result()->set_worker_id("w");
  packet.mutable_job_result()->set_status(cap::JOB_STATUS_SUCCEEDED);
  bus::Delivery result{.subject = std::string(bus::kResultSubject),
                       .payload = job::serialise(packet),
                       .sequence = Sequence(9),
                       .stored_at = clock_.wall(),
                       .deliveries = 1};
  const bus::Handler& handle = stream_.handlers.at(std::string(bus::kResultSubject));
  EXPECT_EQ(run(handle(result)).kind, bus::Verdict::Kind::kNak);
  result.deliveries = limits::kPoisonDeliveriesMax + 1;
  EXPECT_EQ(run(handle(result)).kind, bus::Verdict::Kind::kTerminate);
  const auto letters = noting_.dead_letters({}, 10).await_resume();
  ASSERT_EQ(letters->size(), 1u);
  EXPECT_EQ(letters->front().job.str(), "sys.job.result#9");
}

TEST_F(StreamTest, ADispatchThatCannotBeNotedIsNotTriedForEver) {
  auto listening = *bus_.subscribe("worker.w.jobs", {}, [](bus::Delivery) -> Task<bus::Verdict> {
    co_return bus::Verdict::ack();
  });
  beat("w", 1, 0);
  noting_.senseless = JobId("job");
  noting_.applies_senseless = noting_.only_running = true;
  deliver("job", 1);
  loop_.run_for(60s);
  EXPECT_GT(noting_.refused, 0);
  EXPECT_LT(noting_.refused, 30) << "once for each dispatch, not every time";
}

TEST_F(StreamTest, ASweepThatCannotReadWhatIsDueSaysSoNowAndThen) {
  PhraseLog log;
  Scheduler other{{loop_, clock_, random_, noting_, stream_, gate_, log}, {}, pools()};
  ASSERT_TRUE(run(other.start()));
  noting_.scans_fail = true;
  int& said = log.said["what is due cannot be read"];
  loop_.run_for(10s);
  EXPECT_EQ(said, 1);
  loop_.run_for(limits::kTellWorkersEvery);
  EXPECT_EQ(said, 2);
}

TEST_F(StreamTest, OnlyAMessageThatComesAgainIsNotedAsBeingHandled) {
  deliver("first", 1);
  EXPECT_TRUE(stored("first"));
  EXPECT_THAT(noting_.noted, IsEmpty());
  deliver("again", 2);
  EXPECT_THAT(noting_.noted, ElementsAre("durable:stream:again"));
  EXPECT_THAT(noting_.in_flight, IsEmpty()) << "it has been handled";

  cap::BusPacket packet;
  packet.set_trace_id("t");
  packet.set_sender_id("w");
  packet.mutable_job_result()->set_job_id("again");
  packet.mutable_job_result()->set_worker_id("w");
  packet.mutable_job_result()->set_status(cap::JOB_STATUS_SUCCEEDED);
  bus::Delivery result{.subject = std::string(bus::kResultSubject),
                       .payload = job::serialise(packet),
                       .stored_at = clock_.wall(),
                       .deliveries = 1,
                       .mark = "results:1"};
  const bus::Handler& handle = stream_.handlers.at(std::string(bus::kResultSubject));
  run(handle(result));
  EXPECT_EQ(noting_.noted.size(), 1u);
  result.deliveries = 2;
  run(handle(result));
  EXPECT_THAT(noting_.noted, ElementsAre("durable:stream:again", "results:1"));
}

TEST_F(StreamTest, IN1_APacketWithAnotherPayloadIsAcknowledgedAndIgnored) {
  cap::BusPacket packet;
  packet.set_trace_id("t");
  packet.set_sender_id("somebody");
  packet.mutable_alert()->set_message("not for you");
  for (std::string_view subject : {bus::kSubmitSubject, bus::kResultSubject, bus::kCancelSubject}) {
    bus::Delivery delivery{.subject = std::string(subject),
                           .payload = job::serialise(packet),
                           .stored_at = clock_.wall()};
    const bus::Verdict verdict =
        run(stream_.handlers.at(std::string(subject))(std::move(delivery)));
    EXPECT_EQ(verdict.kind, bus::Verdict::Kind::kAck) << subject;
  }
  EXPECT_TRUE(noting_.all().empty());
  EXPECT_TRUE(noting_.dead_letters({}, 10).await_resume()->empty());
  EXPECT_EQ(scheduler_.metrics().value(Counter::kValidationRejections), 0u);
  EXPECT_EQ(scheduler_.metrics().value(Counter::kUnmarshalFailures), 0u);
}

TEST_F(StreamTest, CAN3_ACancelByCallPublishesExactlyOnePacket) {
  deliver("job", 1);
  stream_.published.clear();
  EXPECT_TRUE(*run(scheduler_.cancel(JobId("job"), "")));
  EXPECT_FALSE(*run(scheduler_.cancel(JobId("job"), "again")));
  loop_.run_for(10s);
  ASSERT_EQ(stream_.published.size(), 1u);
  EXPECT_EQ(stream_.published[0].first, bus::kCancelSubject);
  cap::BusPacket packet;
  ASSERT_TRUE(packet.ParseFromString(stream_.published[0].second));
  EXPECT_EQ(packet.job_cancel().job_id(), "job");
  EXPECT_EQ(packet.job_cancel().reason(), "cancelled by request");
  EXPECT_EQ(packet.job_cancel().requested_by(), "cordum-scheduler");
  EXPECT_EQ(stored("job")->state, job::State::kCancelled);
}

}  // namespace
}  // namespace fairlead::scheduler
