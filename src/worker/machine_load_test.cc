#include "worker/machine_load.h"

#include <csignal>
#include <ctime>
#include <memory>

#include <gtest/gtest.h>
#include <poll.h>
#include <sys/wait.h>
#include <unistd.h>

#include "runtime/clock.h"

namespace fairlead::worker {
namespace {

TEST(MachineLoad, SeesTheWorkThatIsDone) {
  MachineLoad load;
  EXPECT_EQ(load.cpu(), 0);  // nothing to compare with yet
  EXPECT_EQ(load.cpu_of_jobs({}), 0);
  volatile uint64_t sum = 0;
  for (std::clock_t end = std::clock() + CLOCKS_PER_SEC * 11 / 10; std::clock() < end;) {
    sum = sum + 1;
  }
  const float machine = load.cpu();
  const float ours = load.cpu_of_jobs({});
  EXPECT_GT(machine, 0);
  EXPECT_LE(machine, 100);
  EXPECT_GT(ours, 0);
  EXPECT_LE(ours, 100);
  EXPECT_GT(MachineLoad::memory(), 0);
  EXPECT_LE(MachineLoad::memory(), 100);
}

// A program that has started another, which does nothing but work; both are one group.
class BusyProgram {
 public:
  BusyProgram() {
    id_ = ::fork();
    if (id_ == 0) {
      ::setpgid(0, 0);
      if (::fork() == 0) {
        for (volatile uint64_t sum = 0;; sum = sum + 1) {
        }
      }
      for (;;) ::pause();
    }
    ::setpgid(id_, id_);
  }
  ~BusyProgram() {
    ::kill(-id_, SIGKILL);
    ::waitpid(id_, nullptr, 0);
  }
  pid_t id() const { return id_; }

 private:
  pid_t id_ = -1;
};

// Asks until there is an answer but 0: a tick of work takes a moment.
float await_load(MachineLoad& load, const std::vector<pid_t>& running) {
  for (int tries = 0; tries < 1000; ++tries) {
    if (float percent = load.cpu_of_jobs(running); percent > 0) return percent;
    ::poll(nullptr, 0, 20);
  }
  return 0;
}

TEST(MachineLoad, AMomentIsTooShortToSayAnything) {
  const SystemClock clock;
  constexpr Duration kMoment = std::chrono::milliseconds(500);
  // On a busy machine a moment may be long: then it is tried again.
  for (Duration took = 2 * kMoment; took > kMoment;) {
    MachineLoad load;
    const MonotonicTime began = clock.monotonic();
    load.cpu_of_jobs({});
    volatile uint64_t sum = 0;
    for (std::clock_t end = std::clock() + CLOCKS_PER_SEC / 50; std::clock() < end;) sum = sum + 1;
    const float percent = load.cpu_of_jobs({});
    took = clock.monotonic() - began;
    if (took <= kMoment) EXPECT_EQ(percent, 0);
  }
}

TEST(MachineLoad, CountsWhatRunningProgramsHaveStarted) {
  BusyProgram busy;
  MachineLoad load;
  load.cpu_of_jobs({busy.id()});
  EXPECT_GT(await_load(load, {busy.id()}), 0);
  EXPECT_GE(load.cpu_of_jobs({999'999'999}), 0) << "a program that is no more counts nothing";
}

TEST(MachineLoad, WhatOthersDoOnTheMachineIsNotOurs) {
  // As many as there are processors: the machine has nothing left.
  std::vector<std::unique_ptr<BusyProgram>> others;
  for (long i = 0; i < ::sysconf(_SC_NPROCESSORS_ONLN); ++i) {
    others.push_back(std::make_unique<BusyProgram>());
  }
  MachineLoad load;
  load.cpu();
  load.cpu_of_jobs({});
  float machine = 0;
  for (int tries = 0; tries < 100 && machine < 90; ++tries) {
    ::poll(nullptr, 0, 100);
    machine = load.cpu();
  }
  EXPECT_GE(machine, 90);
  EXPECT_LT(load.cpu_of_jobs({}), 50);
}

}  // namespace
}  // namespace fairlead::worker
