// What `fairlead worker` does with jobs.
#include "tests/worker/worker_program.h"

namespace fairlead {
namespace {

TEST_F(WorkerProgram, GivesThePayloadOnStandardInputAndTakesTheResultFromStandardOutput) {
  start({}, "tr a-z A-Z");
  server_.submit("job-1", "hello");
  auto record = server_.wait_for("job-1", State::kSucceeded);
  ASSERT_TRUE(record.has_value());
  EXPECT_EQ(record->result_ptr, "redis://res:job-1");
  EXPECT_EQ(server_.blob("res:job-1"), "HELLO");
}

TEST_F(WorkerProgram, NamesFilesAndTheJobInTheEnvironment) {
  start({}, R"(cat "$FAIRLEAD_PROMPT_FILE" "$FAIRLEAD_CONTEXT_FILE" "$FAIRLEAD_PAYLOAD_FILE"
               grep -o '"job_id":"[a-z0-9-]*"' "$FAIRLEAD_REQUEST_FILE" | head -1
               echo $FAIRLEAD_JOB_ID $FAIRLEAD_TOPIC $FAIRLEAD_TENANT $FAIRLEAD_TRACE_ID \
                    $FAIRLEAD_EPOCH $FAIRLEAD_WORKER_ID $FAIRLEAD_POOL \
                    $FAIRLEAD_PROGRESS_FD "$CORDUM_NOTE"
               case $PATH in /evil) echo evil ;; esac
               echo "$FAIRLEAD_PAYLOAD_FILE" > $FOLDER/where)");
  server_.submit("job-1", R"({"prompt":"Hi.","context":[1]})");
  ASSERT_TRUE(server_.wait_for("job-1", State::kSucceeded));
  EXPECT_EQ(server_.blob("res:job-1"),
            "Hi.[1]{\"prompt\":\"Hi.\",\"context\":[1]}\"job_id\":\"job-1\"\n"
            "job-1 job.default default trace-1 1 w1 default 3 from the request\n");
  std::string where = read("where");
  where.pop_back();
  server_.submit("job-2", R"({"prompt":"Hi.","context":[1]})");
  ASSERT_TRUE(server_.wait_for("job-2", State::kSucceeded));
  EXPECT_FALSE(fs::exists(where)) << "the files are removed before the next job begins";
}

TEST_F(WorkerProgram, ExitCodesBecomeStatuses) {
  server_.tap("sys.job.result");
  start({}, "echo out; echo why >&2; exit $(cat)");
  struct Case {
    const char* code;
    cap::JobStatus status;
  };
  for (const Case& given :
       {Case{"1", cap::JOB_STATUS_FAILED}, Case{"42", cap::JOB_STATUS_FAILED},
        Case{"75", cap::JOB_STATUS_FAILED_RETRYABLE}, Case{"65", cap::JOB_STATUS_FAILED_FATAL},
        Case{"78", cap::JOB_STATUS_FAILED_FATAL}}) {
    const std::string job = std::string("job-") + given.code;
    server_.submit(job, given.code);
    EXPECT_TRUE(server_.wait_tapped([&](const cap::BusPacket& packet) {
      const cap::JobResult& result = packet.job_result();
      return result.job_id() == job && result.status() == given.status &&
             result.error_code() == std::string("exit_") + given.code &&
             result.error_message() == "why" && result.worker_id() == "w1" &&
             result.result_ptr() == "redis://res:" + job && result.dispatch().attempt() == 1 &&
             packet.trace_id() == "trace-1";
    })) << given.code;
  }
}

TEST_F(WorkerProgram, AJobThatAsksToBeTriedAgainIsRunAgain) {
  start({}, "echo run >> $FOLDER/runs; [ $FAIRLEAD_EPOCH = 2 ] || exit 75");
  server_.submit("job-1", "");
  ASSERT_TRUE(server_.wait_for("job-1", State::kSucceeded));
  EXPECT_EQ(read("runs"), "run\nrun\n");
}

TEST_F(WorkerProgram, LinesOnDescriptorThreeAreProgress) {
  server_.tap("sys.job.progress");
  make_gate("gate");
  start({}, "echo 40 reading >&3; cat $FOLDER/gate; echo '{\"percent\":90,\"step\":\"s\"}' >&3");
  server_.submit("job-1", "");
  auto said = [&](int percent, const std::string& message, const std::string& step) {
    return server_.wait_tapped([&](const cap::BusPacket& packet) {
      const cap::JobProgress& progress = packet.job_progress();
      return progress.job_id() == "job-1" && progress.percent() == percent &&
             progress.message() == message && progress.step_id() == step &&
             progress.dispatch().attempt() == 1;
    });
  };
  EXPECT_TRUE(said(40, "reading", ""));
  open_gate("gate");
  EXPECT_TRUE(said(90, "", "s"));
  EXPECT_TRUE(server_.wait_for("job-1", State::kSucceeded));
}

TEST_F(WorkerProgram, ACancelledJobGetsSigtermThenSigkillWithAllThatItStarted) {
  make_gate("gate");
  // The shell and its child do not heed SIGTERM; the output is held by the child.
  start({"--grace", "100ms"},
        "trap 'echo term > $FOLDER/heard' TERM; (trap '' TERM; echo on > $FOLDER/gate; sleep 1000) "
        "& wait; wait");
  server_.tap("sys.job.result");
  server_.submit("job-1", "");
  EXPECT_EQ(pass_gate("gate"), "on\n");
  server_.cancel("job-1");
  ASSERT_TRUE(server_.wait_for("job-1", State::kCancelled));
  EXPECT_TRUE(server_.wait_tapped([](const cap::BusPacket& packet) {
    return packet.job_result().status() == cap::JOB_STATUS_CANCELLED;
  }));
  EXPECT_EQ(read("heard"), "term\n");
}

TEST_F(WorkerProgram, AJobPastItsDeadlineIsStoppedWithoutTheServersHelp) {
  server_.tap("sys.job.result");
  start({}, "exec sleep 1000");
  hand_out("w1", "job-1", 1, 200);
  EXPECT_TRUE(server_.wait_tapped([](const cap::BusPacket& packet) {
    return packet.job_result().status() == cap::JOB_STATUS_TIMEOUT &&
           packet.job_result().error_code() == "timeout";
  }));
}

TEST_F(WorkerProgram, TheTimeThatAJobWaitsInTheWorkerCounts) {
  server_.tap("sys.job.result");
  make_gate("gate");
  start({}, "[ $FAIRLEAD_JOB_ID = job-2 ] || cat $FOLDER/gate");
  hand_out("w1", "job-1", 1);
  hand_out("w1", "job-2", 1, 200);
  EXPECT_TRUE(server_.wait_tapped([](const cap::BusPacket& packet) {
    return packet.job_result().job_id() == "job-2" &&
           packet.job_result().status() == cap::JOB_STATUS_TIMEOUT;
  })) << "it never began";
  open_gate("gate");
}

TEST_F(WorkerProgram, TellsTheProgramWhatIsLeftOfItsTime) {
  server_.submit("job-1", "", 60'000);
  ASSERT_TRUE(server_.wait_for("job-1", State::kPending));
  start({}, "echo $FAIRLEAD_DEADLINE_MS");
  ASSERT_TRUE(server_.wait_for("job-1", State::kSucceeded));
  EXPECT_LT(std::stoi(server_.blob("res:job-1")), 60'000);
  EXPECT_GT(std::stoi(server_.blob("res:job-1")), 30'000);
}

TEST_F(WorkerProgram, SaysThatAProgramHasStarted) {
  start({}, "exec sleep 1000");
  server_.submit("job-1", "");
  auto record = server_.wait_until(
      "job-1", [](const job::Record& found) { return found.first_sign_at.has_value(); });
  ASSERT_TRUE(record);
  EXPECT_EQ(record->state, State::kRunning);
}

TEST_F(WorkerProgram, TooMuchOutputEndsTheJob) {
  start({"--output-max", "1k"}, "yes");
  server_.submit("job-1", "");
  auto record = server_.wait_for("job-1", State::kFailed);
  ASSERT_TRUE(record);
  EXPECT_EQ(record->error_code, "output_too_large");
  EXPECT_EQ(server_.blob("res:job-1"), "");
}

TEST_F(WorkerProgram, RunsAsManyAtATimeAsItIsTold) {
  make_gate("gate");
  // Each waits for the other: one alone would never end.
  start({"--parallel", "4"},
        "if [ $FAIRLEAD_JOB_ID = job-1 ]; then echo x > $FOLDER/gate; else cat $FOLDER/gate; fi");
  server_.submit("job-1", "");
  server_.submit("job-2", "");
  EXPECT_TRUE(server_.wait_for("job-1", State::kSucceeded));
  EXPECT_TRUE(server_.wait_for("job-2", State::kSucceeded));
}

TEST_F(WorkerProgram, HeartbeatsTellLoadAndJobs) {
  server_.tap("sys.heartbeat");
  make_gate("gate");
  start({"--parallel", "3", "--label", "zone=a", "--capability", "gpu"},
        "echo on > $FOLDER/gate; while :; do :; done");
  server_.submit("job-1", "");
  EXPECT_EQ(pass_gate("gate"), "on\n");
  EXPECT_TRUE(server_.wait_tapped([](const cap::BusPacket& packet) {
    const cap::Heartbeat& beat = packet.heartbeat();
    return beat.active_jobs() == 1 && beat.max_parallel_jobs() == 3 && beat.pool() == "default" &&
           beat.labels().at("zone") == "a" && beat.capabilities(0) == "gpu" &&
           beat.memory_load() > 0 && beat.cpu_load() > 5;
  })) << "the program keeps a processor busy";
}

TEST_F(WorkerProgram, AnotherNumberOfJobsIsToldAtOnce) {
  server_.tap("sys.heartbeat");
  make_gate("gate");
  make_gate("end");
  start({}, "echo on > $FOLDER/gate; cat $FOLDER/end");
  auto told = [&](int active) {
    const size_t before = server_.tapped().size();
    const auto began = std::chrono::steady_clock::now();
    EXPECT_TRUE(server_.wait_tapped(
        [&](const cap::BusPacket& packet) { return packet.heartbeat().active_jobs() == active; },
        before > 0 ? before - 1 : 0));
    return std::chrono::steady_clock::now() - began < limits::kHeartbeatEvery;
  };
  server_.submit("job-1", "");
  EXPECT_EQ(pass_gate("gate"), "on\n");
  EXPECT_TRUE(told(1));
  open_gate("end");
  EXPECT_TRUE(told(0));
}

TEST_F(WorkerProgram, ReconnectsAndDeliversWhatEndedMeanwhileWithoutRunningItAgain) {
  make_gate("begun");
  make_gate("gate");
  start({}, "echo run >> $FOLDER/runs; echo on > $FOLDER/begun; cat $FOLDER/gate");
  server_.submit("job-1", "");
  EXPECT_EQ(pass_gate("begun"), "on\n");
  server_.stop_listening();
  wait_for_line("trying again");
  open_gate("gate");
  server_.listen();
  ASSERT_TRUE(server_.wait_for("job-1", State::kSucceeded));
  EXPECT_EQ(server_.blob("res:job-1"), "go\n");
  EXPECT_EQ(read("runs"), "run\n");
}

TEST_F(WorkerProgram, AnEpochOrAJobThatIsHandedOutAgainIsNotRunAgain) {
  server_.tap("sys.job.result");
  start({}, "echo run >> $FOLDER/runs");
  auto answered = [&](uint64_t epoch) {
    return server_.wait_tapped([&](const cap::BusPacket& packet) {
      return packet.job_result().status() == cap::JOB_STATUS_SUCCEEDED &&
             packet.job_result().dispatch().attempt() == epoch;
    });
  };
  hand_out("w1", "job-1", 1);
  EXPECT_TRUE(answered(1));
  hand_out("w1", "job-1", 1);
  hand_out("w1", "job-1", 2);
  EXPECT_TRUE(answered(2));
  EXPECT_EQ(read("runs"), "run\n");
}

TEST(WorkerProgramWords, SaysWhatIsWrongInOneLine) {
  edge::Child unknown({worker_program(), "--pool", "p", "--", "no-such-program"}, {});
  EXPECT_EQ(unknown.wait(), 2);
  EXPECT_EQ(unknown.output(), "fairlead worker: there is no program 'no-such-program' in PATH\n");
  edge::Child help({worker_program(), "--help"}, {});
  EXPECT_EQ(help.wait(), 0);
  EXPECT_NE(help.output().find("examples:"), std::string::npos);
}

}  // namespace
}  // namespace fairlead
