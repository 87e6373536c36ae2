#include "runtime/signals.h"

#include <csignal>
#include <future>

#include <gtest/gtest.h>
#include <unistd.h>

namespace fairlead {
namespace {

TEST(Signals, AreCallsOnAThreadOfTheirOwn) {
  std::promise<int> first, second;
  bool called = false;
  {
    Signals signals({SIGUSR1, SIGUSR2}, [&](int number) {
      (std::exchange(called, true) ? second : first).set_value(number);
    });
    ::kill(::getpid(), SIGUSR2);
    EXPECT_EQ(first.get_future().get(), SIGUSR2);
    ::kill(::getpid(), SIGUSR1);
    EXPECT_EQ(second.get_future().get(), SIGUSR1);
  }
}

}  // namespace
}  // namespace fairlead
