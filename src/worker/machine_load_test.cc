#include "worker/machine_load.h"

#include <ctime>

#include <gtest/gtest.h>
#include <unistd.h>

namespace fairlead::worker {
namespace {

TEST(MachineLoad, SeesTheWorkThatIsDone) {
  MachineLoad load;
  EXPECT_EQ(load.cpu(), 0);  // nothing to compare with yet
  EXPECT_EQ(load.cpu_of_jobs({}), 0);
  volatile uint64_t sum = 0;
  for (std::clock_t end = std::clock() + CLOCKS_PER_SEC / 4; std::clock() < end;) sum = sum + 1;
  const float machine = load.cpu();
  const float ours = load.cpu_of_jobs({});
  EXPECT_GT(machine, 0);
  EXPECT_LE(machine, 100);
  EXPECT_GT(ours, 0);
  EXPECT_LE(ours, 100);
  EXPECT_GT(MachineLoad::memory(), 0);
  EXPECT_LE(MachineLoad::memory(), 100);
}

TEST(MachineLoad, CountsProgramsThatRun) {
  MachineLoad load;
  load.cpu_of_jobs({});
  volatile uint64_t sum = 0;
  for (std::clock_t end = std::clock() + CLOCKS_PER_SEC / 4; std::clock() < end;) sum = sum + 1;
  // A program that is no more counts nothing.
  EXPECT_GE(load.cpu_of_jobs({::getpid(), 999'999'999}), 0);
}

}  // namespace
}  // namespace fairlead::worker
