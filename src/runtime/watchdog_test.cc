#include "runtime/watchdog.h"

#include <csignal>
#include <filesystem>
#include <fstream>

#include <gtest/gtest.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

namespace fairlead {
namespace {

namespace fs = std::filesystem;

// A process in a group of its own that does nothing.
pid_t idle_group() {
  const pid_t id = ::fork();
  if (id == 0) {
    ::setpgid(0, 0);
    for (;;) ::pause();
  }
  ::setpgid(id, id);
  return id;
}

class WatchdogTest : public testing::Test {
 protected:
  WatchdogTest() {
    folder_ = fs::path(testing::TempDir()) / ("watchdog-" + std::to_string(::getpid()));
    fs::create_directories(folder_ / "inside");
  }
  fs::path folder_;
};

TEST_F(WatchdogTest, KillsTheGroupsAndRemovesTheFolderWhenItsOwnerIsKilled) {
  const pid_t guarded = idle_group();
  const pid_t released = idle_group();
  int told[2];
  ASSERT_EQ(::pipe(told), 0);
  const pid_t owner = ::fork();
  if (owner == 0) {
    auto watchdog = Watchdog::start(folder_.string());
    watchdog->guard(guarded);
    watchdog->guard(released);
    watchdog->release(released);
    (void)!::write(told[1], "x", 1);
    for (;;) ::pause();
  }
  char byte = 0;
  ASSERT_EQ(::read(told[0], &byte, 1), 1);
  ::kill(owner, SIGKILL);
  ::waitpid(owner, nullptr, 0);
  int status = 0;
  EXPECT_EQ(::waitpid(guarded, &status, 0), guarded);
  EXPECT_TRUE(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
  for (int tries = 0; tries < 1000 && fs::exists(folder_); ++tries) ::poll(nullptr, 0, 10);
  EXPECT_FALSE(fs::exists(folder_));
  EXPECT_EQ(::waitpid(released, &status, WNOHANG), 0) << "it lives";
  ::kill(released, SIGKILL);
  ::waitpid(released, &status, 0);
  ::close(told[0]);
  ::close(told[1]);
}

TEST_F(WatchdogTest, HasDoneItsWorkWhenItsOwnerEndsItself) {
  const pid_t guarded = idle_group();
  {
    auto watchdog = Watchdog::start(folder_.string());
    ASSERT_TRUE(watchdog);
    watchdog->guard(guarded);
  }
  EXPECT_FALSE(fs::exists(folder_));
  int status = 0;
  EXPECT_EQ(::waitpid(guarded, &status, 0), guarded);
  EXPECT_TRUE(WIFSIGNALED(status));
}

}  // namespace
}  // namespace fairlead
