// `fairlead worker` among others: which jobs come to it, and what becomes of them when it ends.
#include "tests/worker/worker_program.h"

namespace fairlead {
namespace {

TEST_F(WorkerProgram, OfTwoWorkersTheOneThatTakesTheTopicGetsTheJob) {
  join("other", {"--topic", "job.other"}, "echo $FAIRLEAD_WORKER_ID");
  join("default", {"--topic", "job.default"}, "echo $FAIRLEAD_WORKER_ID");
  for (int i = 0; i < 5; ++i) {
    const std::string number = std::to_string(i);
    server_.submit("d" + number, "", 0, "job.default");
    server_.submit("o" + number, "", 0, "job.other");
    auto record = server_.wait_for("d" + number, State::kSucceeded);
    ASSERT_TRUE(record);
    EXPECT_EQ(record->deliveries, 1u);
    EXPECT_EQ(server_.blob("res:d" + number), "default\n");
    record = server_.wait_for("o" + number, State::kSucceeded);
    ASSERT_TRUE(record);
    EXPECT_EQ(record->deliveries, 1u);
    EXPECT_EQ(server_.blob("res:o" + number), "other\n");
  }
}

TEST_F(WorkerProgram, TakesTheTopicsThatItNamesAfterAReconnectToo) {
  start({"--topic", "job.default"}, "cat");
  server_.stop_listening();
  wait_for_line("trying again");
  server_.listen();
  wait_for_line("connected");
  server_.submit("job-1", "x", 0, "job.other");
  auto record = server_.wait_for("job-1", State::kPending);
  ASSERT_TRUE(record);
  EXPECT_EQ(record->wait->detail, "no workers in pool \"default\" for job.other");
}

TEST_F(WorkerProgram, SaysItsTopicsWithEveryHeartbeat) {
  start({"--topic", "job.default"}, "cat");
  server_.tap("sys.handshake");
  server_.submit("job-1", "x");
  EXPECT_TRUE(server_.wait_tapped([](const cap::BusPacket& packet) {
    return packet.handshake().component_id() == "w1" &&
           packet.handshake().ready_topics_size() == 1 &&
           packet.handshake().ready_topics(0) == "job.default";
  })) << "a replica that starts later learns them";
}

TEST_F(WorkerProgram, DrainsOnSigterm) {
  make_gate("begun");
  make_gate("gate");
  start({"--parallel", "2"}, "echo on > $FOLDER/begun; cat $FOLDER/gate");
  server_.submit("job-1", "");
  EXPECT_EQ(pass_gate("begun"), "on\n");
  signal(SIGTERM);
  wait_for_line("ending when 1 running");
  server_.submit("job-2", "");
  open_gate("gate");
  EXPECT_EQ(worker_->wait(), 0) << worker_->output();
  EXPECT_TRUE(server_.wait_for("job-1", State::kSucceeded));
  auto other = server_.wait_until("job-2", [](const job::Record&) { return true; });
  EXPECT_NE(other->state, State::kRunning);
  EXPECT_FALSE(job::is_terminal(other->state)) << "it waits for another worker";
}

TEST_F(WorkerProgram, WhileItDrainsJobsGoElsewhereThoughItHasRoom) {
  make_gate("begun");
  make_gate("gate");
  start({"--parallel", "4"}, "echo on > $FOLDER/begun; cat $FOLDER/gate");
  server_.submit("job-1", "");
  EXPECT_EQ(pass_gate("begun"), "on\n");
  signal(SIGTERM);
  wait_for_line("ending when 1 running");
  join("w2", {}, "echo $FAIRLEAD_WORKER_ID");
  for (const char* job : {"job-2", "job-3", "job-4"}) {
    server_.submit(job, "");
    auto record = server_.wait_for(job, State::kSucceeded);
    ASSERT_TRUE(record);
    EXPECT_EQ(record->assignee, WorkerId("w2"));
    EXPECT_EQ(record->epoch, Epoch(1)) << "it was never meant for the other";
  }
  open_gate("gate");
  EXPECT_EQ(worker_->wait(), 0) << worker_->output();
}

TEST_F(WorkerProgram, IsForgottenAsSoonAsItHasEnded) {
  start({}, "cat");
  ASSERT_EQ(server_.workers(), 1u);
  signal(SIGTERM);
  EXPECT_EQ(worker_->wait(), 0);
  EXPECT_TRUE(server_.wait_workers(0));
  join("w2", {}, "cat");
  ::kill(workers_.back().id(), SIGKILL);
  workers_.back().wait();
  EXPECT_TRUE(server_.wait_workers(0)) << "also when it was killed";
}

TEST_F(WorkerProgram, IsForgottenAfterItHasDrained) {
  make_gate("begun");
  make_gate("gate");
  start({}, "echo on > $FOLDER/begun; cat $FOLDER/gate");
  server_.submit("job-1", "");
  EXPECT_EQ(pass_gate("begun"), "on\n");
  signal(SIGTERM);
  wait_for_line("ending when 1 running");
  open_gate("gate");
  EXPECT_EQ(worker_->wait(), 0) << worker_->output();
  EXPECT_TRUE(server_.wait_workers(0));
}

TEST_F(WorkerProgram, ASecondSignalKillsWhatRunsAndGivesItBack) {
  make_gate("begun");
  start({}, "trap '' TERM; echo on > $FOLDER/begun; exec sleep 1000");
  server_.submit("job-1", "");
  EXPECT_EQ(pass_gate("begun"), "on\n");
  signal(SIGTERM);
  wait_for_line("ending when 1 running");
  signal(SIGTERM);
  EXPECT_EQ(worker_->wait(), 1) << worker_->output();
  EXPECT_TRUE(server_.wait_for("job-1", State::kRetrying));
}

TEST_F(WorkerProgram, OneThatIsGivenAJobOfAnotherTopicGivesItBack) {
  server_.tap("sys.job.result");
  start({"--topic", "job.other"}, "cat");
  hand_out("w1", "job-1", 1);
  EXPECT_TRUE(server_.wait_tapped([](const cap::BusPacket& packet) {
    return packet.job_result().status() == cap::JOB_STATUS_FAILED_RETRYABLE &&
           packet.job_result().error_code() == "topic_not_served" &&
           packet.job_result().error_message() == "worker w1 does not serve job.default";
  }));
}

TEST_F(WorkerProgram, OfTwoWorkersWithOneIdEachJobIsRunByOneAndBothAreWarned) {
  edge::Child& first = join("same", {"--parallel", "4"}, "echo run >> $FOLDER/runs");
  edge::Child& second = join("same", {"--parallel", "4"}, "echo run >> $FOLDER/runs");
  await_line(first, "another worker is connected as same");
  await_line(second, "another worker is connected as same");
  std::string expected;
  for (int i = 0; i < 6; ++i) {
    const std::string job = "job-" + std::to_string(i);
    server_.submit(job, "");
    EXPECT_TRUE(server_.wait_for(job, State::kSucceeded));
    expected += "run\n";
  }
  EXPECT_EQ(read("runs"), expected);
}

TEST_F(WorkerProgram, OneThatRestartsUnderItsIdHasRoomAgain) {
  make_gate("begun");
  edge::Child& first = join("w1", {}, "echo on > $FOLDER/begun; exec sleep 1000");
  server_.submit("job-1", "");
  EXPECT_EQ(pass_gate("begun"), "on\n");
  EXPECT_TRUE(server_.wait_worker(
      "w1", [](const routing::WorkerView& worker) { return worker.report.active_jobs == 1; }));
  ::kill(first.id(), SIGKILL);
  first.wait();
  join("w1", {}, "cat");
  server_.submit("job-2", "x");
  EXPECT_TRUE(server_.wait_for("job-2", State::kSucceeded)) << "what died with it counts no more";
}

}  // namespace
}  // namespace fairlead
