// `fairlead worker` as a process of its own, against the embedded core over real sockets.
#include <csignal>
#include <filesystem>
#include <fstream>

#include "tests/edge/child.h"
#include "tests/worker/embedded_server.h"

namespace fairlead {
namespace {

namespace fs = std::filesystem;
using job::State;
using Words = std::vector<std::string>;

class WorkerProgram : public testing::Test {
 protected:
  WorkerProgram() {
    folder_ = fs::path(testing::TempDir()) / ("worker-" + std::to_string(::getpid()));
    fs::create_directories(folder_);
  }
  ~WorkerProgram() override { fs::remove_all(folder_); }

  void start(Words more, const std::string& script) {
    Words words{(fs::read_symlink("/proc/self/exe").parent_path() / "worker_program").string(),
                "--pool",
                "default",
                "--id",
                "w1",
                "--cpu-load",
                "jobs",
                "--server",
                "nats://127.0.0.1:" + std::to_string(server_.nats_port()),
                "--payloads",
                "redis://127.0.0.1:" + std::to_string(server_.resp_port())};
    words.insert(words.end(), more.begin(), more.end());
    words.insert(words.end(), {"--", "sh", "-c", script});
    worker_.emplace(words, std::map<std::string, std::string>{{"FOLDER", folder_.string()}});
    wait_for_line("connected");
  }
  void wait_for_line(const std::string& text) {
    for (;;) {
      const std::string line = worker_->line();
      if (line.find(text) != line.npos) return;
      ASSERT_FALSE(line.empty()) << "the worker ended: " << worker_->output();
    }
  }
  // A signal, and what the worker exits with.
  void signal(int number) { ::kill(worker_->id(), number); }
  std::string read(const std::string& name) {
    std::ifstream file(folder_ / name);
    return {std::istreambuf_iterator<char>(file), {}};
  }
  // A program says that it has begun by making a pipe's other end open.
  void make_gate(const std::string& name) {
    ASSERT_EQ(::system(("mkfifo " + (folder_ / name).string()).c_str()), 0);
  }
  void open_gate(const std::string& name) { std::ofstream(folder_ / name) << "go\n"; }
  std::string pass_gate(const std::string& name) { return read(name); }

  EmbeddedServer server_;
  fs::path folder_;
  std::optional<edge::Child> worker_;
};

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
                    $FAIRLEAD_EPOCH $FAIRLEAD_DEADLINE_MS $FAIRLEAD_WORKER_ID $FAIRLEAD_POOL \
                    $FAIRLEAD_PROGRESS_FD "$CORDUM_NOTE"
               case $PATH in /evil) echo evil ;; esac
               echo "$FAIRLEAD_PAYLOAD_FILE" > $FOLDER/where)");
  server_.submit("job-1", R"({"prompt":"Hi.","context":[1]})", 60'000);
  ASSERT_TRUE(server_.wait_for("job-1", State::kSucceeded));
  EXPECT_EQ(server_.blob("res:job-1"),
            "Hi.[1]{\"prompt\":\"Hi.\",\"context\":[1]}\"job_id\":\"job-1\"\n"
            "job-1 job.default default trace-1 1 60000 w1 default 3 from the request\n");
  std::string where = read("where");
  where.pop_back();
  EXPECT_FALSE(fs::exists(where)) << "the files are removed";
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

TEST_F(WorkerProgram, AJobPastItsDeadlineIsStopped) {
  server_.tap("sys.job.result");
  start({}, "exec sleep 1000");
  server_.submit("job-1", "", 200);
  EXPECT_TRUE(server_.wait_for("job-1", State::kTimeout));
  EXPECT_TRUE(server_.wait_tapped([](const cap::BusPacket& packet) {
    const cap::JobStatus status = packet.job_result().status();
    // The server's own deadline may come first; then it has cancelled the job here.
    return status == cap::JOB_STATUS_TIMEOUT || status == cap::JOB_STATUS_CANCELLED;
  }));
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
        "echo on > $FOLDER/gate; exec sleep 1000");
  server_.submit("job-1", "");
  EXPECT_EQ(pass_gate("gate"), "on\n");
  EXPECT_TRUE(server_.wait_tapped([](const cap::BusPacket& packet) {
    const cap::Heartbeat& beat = packet.heartbeat();
    return beat.active_jobs() == 1 && beat.max_parallel_jobs() == 3 && beat.pool() == "default" &&
           beat.labels().at("zone") == "a" && beat.capabilities(0) == "gpu" &&
           beat.memory_load() > 0;
  }));
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
  auto hand_out = [&](uint64_t epoch) {
    cap::BusPacket packet;
    cap::JobRequest& request = *packet.mutable_job_request();
    request.set_job_id("job-1");
    request.set_topic("job.default");
    request.mutable_dispatch()->set_attempt(epoch);
    server_.publish("worker.w1.jobs", std::move(packet));
  };
  auto answered = [&](uint64_t epoch) {
    return server_.wait_tapped([&](const cap::BusPacket& packet) {
      return packet.job_result().status() == cap::JOB_STATUS_SUCCEEDED &&
             packet.job_result().dispatch().attempt() == epoch;
    });
  };
  hand_out(1);
  EXPECT_TRUE(answered(1));
  hand_out(1);
  hand_out(2);
  EXPECT_TRUE(answered(2));
  EXPECT_EQ(read("runs"), "run\n");
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

TEST_F(WorkerProgram, GivesBackJobsOfTopicsThatItDoesNotServe) {
  start({"--topic", "job.default"}, "cat");
  server_.submit("job-1", "x", 0, "job.other");
  auto record = server_.wait_for("job-1", State::kRetrying);
  EXPECT_EQ(record->wait->detail, "worker w1 does not serve job.other");
  server_.submit("job-2", "x");
  EXPECT_TRUE(server_.wait_for("job-2", State::kSucceeded));
}

TEST_F(WorkerProgram, APayloadThatIsGoneFailsTheJob) {
  start({}, "cat");
  cap::BusPacket packet;
  packet.mutable_job_request()->set_job_id("job-1");
  packet.mutable_job_request()->set_topic("job.default");
  packet.mutable_job_request()->set_context_ptr("redis://ctx:gone");
  server_.publish("sys.job.submit", std::move(packet));
  auto record = server_.wait_for("job-1", State::kFailed);
  EXPECT_EQ(record->error_code, "payload_missing");
}

TEST(WorkerProgramCredentials, ShowsItsTokenToBothListeners) {
  EmbeddedServer server(edge::Credentials{.token = "s3cret"});
  Words words{(fs::read_symlink("/proc/self/exe").parent_path() / "worker_program").string(),
              "--pool",
              "default",
              "--cpu-load",
              "jobs",
              "--token",
              "s3cret",
              "--server",
              "nats://127.0.0.1:" + std::to_string(server.nats_port()),
              "--payloads",
              "redis://127.0.0.1:" + std::to_string(server.resp_port()),
              "--",
              "cat"};
  edge::Child worker(words, {});
  EXPECT_NE(worker.line().find("connected"), std::string::npos);
  server.submit("job-1", "x");
  EXPECT_TRUE(server.wait_for("job-1", State::kSucceeded));
}

TEST(WorkerProgramWords, SaysWhatIsWrongInOneLine) {
  const std::string program =
      (fs::read_symlink("/proc/self/exe").parent_path() / "worker_program").string();
  edge::Child unknown({program, "--pool", "p", "--", "no-such-program"}, {});
  EXPECT_EQ(unknown.wait(), 2);
  EXPECT_EQ(unknown.output(), "fairlead worker: there is no program 'no-such-program' in PATH\n");
  edge::Child help({program, "--help"}, {});
  EXPECT_EQ(help.wait(), 0);
  EXPECT_NE(help.output().find("examples:"), std::string::npos);
}

}  // namespace
}  // namespace fairlead
