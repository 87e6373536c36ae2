#include "tests/behaviour/server_clock.h"

#include <cstdlib>
#include <filesystem>
#include <new>

#include <sys/mman.h>
#include <unistd.h>

#include "base/check.h"

namespace fairlead::behaviour {

ServerClock::ServerClock()
    : path_((std::filesystem::temp_directory_path() / "fairlead-clock-XXXXXX").string()) {
  int file = ::mkstemp(path_.data());
  check(file >= 0 && ::ftruncate(file, sizeof(*micros_)) == 0, "there is room for a clock");
  void* mapped = ::mmap(nullptr, sizeof(*micros_), PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  ::close(file);
  check(mapped != MAP_FAILED, "a clock can be shared");
  micros_ = new (mapped) std::atomic<int64_t>(0);
}

ServerClock::~ServerClock() {
  ::munmap(micros_, sizeof(*micros_));
  ::unlink(path_.c_str());
}

ServerClock::Lend::Lend(const ServerClock& clock) {
  ::setenv("FAIRLEAD_SERVER_CLOCK", clock.path_.c_str(), 1);
  ::setenv("LD_PRELOAD", SERVER_CLOCK_LIBRARY, 1);
}

ServerClock::Lend::~Lend() {
  ::unsetenv("LD_PRELOAD");
  ::unsetenv("FAIRLEAD_SERVER_CLOCK");
}

}  // namespace fairlead::behaviour
