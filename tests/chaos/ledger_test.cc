#include <filesystem>
#include <fstream>

#include <gtest/gtest.h>

#include "tests/chaos/worker_process.h"

namespace fairlead::chaos {
namespace {

TEST(Ledger, IsReadFromWhereItWasLeftAndWithoutALineThatIsCutShort) {
  const auto file =
      std::filesystem::temp_directory_path() / ("fairlead-ledger-" + std::to_string(::getpid()));
  std::ofstream out(file);
  out << "D 11 worker job-1 1\nR 12 worker job-1 1\nD 13 worker jo" << std::flush;
  Evidence first;
  const auto read_to = read_ledger(file, 0, first);
  ASSERT_EQ(first.deliveries.size(), 1u);
  EXPECT_EQ(first.deliveries[0].job, "job-1");
  EXPECT_EQ(first.deliveries[0].at, 11);
  ASSERT_EQ(first.results.size(), 1u);
  EXPECT_EQ(first.results[0].at, 12);

  out << "b-2 7\n" << std::flush;
  Evidence second;
  EXPECT_EQ(read_ledger(file, read_to, second), std::filesystem::file_size(file));
  ASSERT_EQ(second.deliveries.size(), 1u);
  EXPECT_EQ(second.deliveries[0].job, "job-2");
  EXPECT_EQ(second.deliveries[0].epoch, 7u);
  std::filesystem::remove(file);
}

TEST(Ledger, ThatIsNotThereIsEmpty) {
  Evidence evidence;
  EXPECT_EQ(read_ledger("/nowhere/at/all", 0, evidence), 0u);
  EXPECT_TRUE(evidence.deliveries.empty());
}

}  // namespace
}  // namespace fairlead::chaos
