// `fairlead worker` that is killed: nothing of its jobs lives on, and nothing is left lying.
#include <fcntl.h>
#include <poll.h>
#include <sys/file.h>

#include "tests/worker/worker_program.h"

namespace fairlead {
namespace {

// A process that nobody has waited for yet is dead too.
bool is_dead(pid_t id) {
  std::ifstream file("/proc/" + std::to_string(id) + "/stat");
  std::string text{std::istreambuf_iterator<char>(file), {}};
  if (text.empty()) return true;
  const char state = text[text.rfind(')') + 2];
  return state == 'Z' || state == 'X';
}

bool becomes(const std::function<bool()>& true_) {
  for (int tries = 0; tries < 1000; ++tries) {
    if (true_()) return true;
    ::poll(nullptr, 0, 10);
  }
  return false;
}

TEST_F(WorkerProgram, KilledItTakesAllThatItsJobsStartedWithItAndTheirFiles) {
  make_gate("gate");
  const fs::path temp = folder_ / "temp";
  fs::create_directory(temp);
  edge::Child& worker =
      join("w1", {}, "sleep 1000 & echo $! > $FOLDER/gate; wait", {{"TMPDIR", temp.string()}});
  server_.submit("job-1", "");
  const pid_t grandchild = std::stoi(pass_gate("gate"));
  EXPECT_FALSE(is_dead(grandchild));
  EXPECT_FALSE(fs::is_empty(temp));
  ::kill(worker.id(), SIGKILL);
  EXPECT_EQ(worker.wait(), -1);
  EXPECT_TRUE(becomes([&] { return is_dead(grandchild); }));
  EXPECT_TRUE(becomes([&] { return fs::is_empty(temp); }));
}

TEST_F(WorkerProgram, EndingItLeavesNothingLying) {
  const fs::path temp = folder_ / "temp";
  fs::create_directory(temp);
  edge::Child& worker = join("w1", {}, "cat", {{"TMPDIR", temp.string()}});
  server_.submit("job-1", "x");
  EXPECT_TRUE(server_.wait_for("job-1", State::kSucceeded));
  ::kill(worker.id(), SIGTERM);
  EXPECT_EQ(worker.wait(), 0);
  EXPECT_TRUE(fs::is_empty(temp));
}

TEST_F(WorkerProgram, RemovesWhatDeadWorkersLeftAndNothingElse) {
  const fs::path temp = folder_ / "temp";
  for (const char* name : {"fairlead-worker-dead00", "fairlead-worker-lives0", "other"}) {
    fs::create_directories(temp / name / "job-1");
    std::ofstream(temp / name / "lock") << "";
  }
  fs::create_directories(temp / "fairlead-worker-begins");  // it has not come to its lock yet
  const int held = ::open((temp / "fairlead-worker-lives0/lock").c_str(), O_RDWR | O_CLOEXEC);
  ASSERT_EQ(::flock(held, LOCK_EX), 0);
  join("w1", {}, "cat", {{"TMPDIR", temp.string()}});
  EXPECT_FALSE(fs::exists(temp / "fairlead-worker-dead00"));
  EXPECT_TRUE(fs::exists(temp / "fairlead-worker-lives0/job-1"));
  EXPECT_TRUE(fs::exists(temp / "fairlead-worker-begins"));
  EXPECT_TRUE(fs::exists(temp / "other/job-1"));
  ::close(held);
}

}  // namespace
}  // namespace fairlead
