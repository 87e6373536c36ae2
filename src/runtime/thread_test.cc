#include "runtime/thread.h"

#include <filesystem>
#include <fstream>
#include <latch>
#include <string>

#include <gtest/gtest.h>

namespace fairlead {
namespace {

TEST(ThreadTest, HasItsNameOnceItsOwnerHasIt) {
  std::latch looked(1);
  Thread thread("a-name-of-more-than-15", [&] { looked.wait(); });
  size_t named = 0;
  for (const auto& task : std::filesystem::directory_iterator("/proc/self/task")) {
    std::string name;
    std::getline(std::ifstream(task.path() / "comm"), name);
    named += name == "a-name-of-more-";
  }
  looked.count_down();
  thread.join();
  EXPECT_EQ(named, 1u);
}

}  // namespace
}  // namespace fairlead
