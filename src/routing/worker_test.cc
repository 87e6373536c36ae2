#include "routing/worker.h"

#include <cmath>
#include <limits>

#include <gtest/gtest.h>

#include "base/limits.h"
#include "routing/test_workers.h"

namespace fairlead::routing {

TEST(WorkerScore, IsLoadPlusHundredthsOfCpuAndGpu) {
  EXPECT_DOUBLE_EQ(score(3, 50, 25), 3.75);
  EXPECT_DOUBLE_EQ(score(0, 0, 0), 0);
}

TEST(WorkerOverload, BeginsAtNineTenthsOfCapacity) {
  EXPECT_FALSE(overloaded(8, 10, 0, 0));
  EXPECT_TRUE(overloaded(9, 10, 0, 0));
  EXPECT_FALSE(overloaded(17, 20, 0, 0));
  EXPECT_TRUE(overloaded(18, 20, 0, 0));
  EXPECT_TRUE(overloaded(30, 10, 0, 0));
}

TEST(WorkerOverload, AnIdleWorkerOfCapacityOneIsUsableAndABusyOneIsNot) {
  EXPECT_FALSE(overloaded(0, 1, 0, 0));
  EXPECT_TRUE(overloaded(1, 1, 0, 0));
}

TEST(WorkerOverload, WithoutCapacityOnlyCpuAndGpuCount) {
  EXPECT_FALSE(overloaded(1000, 0, 0, 0));
  EXPECT_TRUE(overloaded(0, 0, 90, 0));
  EXPECT_TRUE(overloaded(0, 0, 0, 90));
}

TEST(WorkerOverload, BeginsAtNinetyPercentOfCpuOrGpu) {
  EXPECT_FALSE(overloaded(0, 0, 89.99, 89.99));
  EXPECT_TRUE(overloaded(0, 10, 95, 10));
  EXPECT_TRUE(overloaded(0, 10, 10, 95));
  EXPECT_FALSE(overloaded(0, 10, 10, 10));
}

TEST(WorkerReport, NumbersOutOfRangeAreBroughtIntoIt) {
  WorkerReport report = worker("w");
  report.active_jobs = -3;
  report.max_parallel_jobs = std::numeric_limits<int32_t>::max();
  report.cpu_load = std::nan("");
  report.gpu_utilization = -5;
  report.memory_load = std::numeric_limits<double>::infinity();
  sanitise(report);
  EXPECT_EQ(report.active_jobs, 0);
  EXPECT_EQ(report.max_parallel_jobs, 1'000'000);
  EXPECT_EQ(report.cpu_load, 0);
  EXPECT_EQ(report.gpu_utilization, 0);
  EXPECT_EQ(report.memory_load, 100);
}

TEST(WorkerReport, WithMoreLabelsThanAllowedIsInvalid) {
  WorkerReport report = worker("w");
  for (size_t i = 0; i < limits::kWorkerLabelsMax; ++i) report.labels[std::to_string(i)] = "x";
  EXPECT_TRUE(validate(report));
  report.labels["one more"] = "x";
  EXPECT_FALSE(validate(report));
}

TEST(WorkerReport, WithMoreTextThanAllowedIsInvalid) {
  WorkerReport report = worker("w");
  report.capabilities.assign(10'000, "capability");
  EXPECT_FALSE(validate(report));
  report.capabilities.assign(1'000'000, "");
  EXPECT_FALSE(validate(report));
}

TEST(Hazard, H24_AWorkerIdThatIsNotOneSubjectTokenIsInvalid) {
  for (const char* id : {"", "a.b", "*", ">", "a b", "a\tb", "a\nb", "a\x01", "a\x7f", " a", "."}) {
    EXPECT_FALSE(validate(WorkerId(id))) << '"' << id << '"';
  }
  EXPECT_FALSE(validate(WorkerId(std::string("a\0b", 3))));
  EXPECT_FALSE(validate(WorkerId(std::string(limits::kWorkerIdBytesMax + 1, 'w'))));
  EXPECT_TRUE(validate(WorkerId(std::string(limits::kWorkerIdBytesMax, 'w'))));
  EXPECT_TRUE(validate(WorkerId("worker-1_A:ü")));
}

}  // namespace fairlead::routing
