// Preloaded into a server that a test starts: its wall clock is a number in a file which the test
// has mapped too (tests/behaviour/server_clock.h). Its monotonic clock stays the machine's.
#include <atomic>
#include <cstdint>
#include <cstdlib>

#include <dlfcn.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

namespace {

using Micros = std::atomic<int64_t>;
constexpr int64_t kMicros = 1'000'000;

// nullptr: nobody gave one.
const Micros* map_clock() {
  const char* path = std::getenv("FAIRLEAD_SERVER_CLOCK");
  int file = path ? ::open(path, O_RDONLY | O_CLOEXEC) : -1;
  if (file < 0) return nullptr;
  void* mapped = ::mmap(nullptr, sizeof(Micros), PROT_READ, MAP_SHARED, file, 0);
  ::close(file);
  return mapped == MAP_FAILED ? nullptr : static_cast<const Micros*>(mapped);
}

int64_t machine_time() {
  using Read = int (*)(clockid_t, timespec*);
  static const auto read = reinterpret_cast<Read>(::dlsym(RTLD_NEXT, "clock_gettime"));
  timespec now{};
  read(CLOCK_REALTIME, &now);
  return now.tv_sec * kMicros + now.tv_nsec / 1000;
}

int64_t wall_time() {
  static const Micros* const clock = map_clock();
  return clock ? clock->load() : machine_time();
}

}  // namespace

extern "C" int gettimeofday(timeval* into, void*) noexcept {
  const int64_t now = wall_time();
  *into = {now / kMicros, now % kMicros};
  return 0;
}

extern "C" time_t time(time_t* into) noexcept {
  const time_t now = wall_time() / kMicros;
  if (into) *into = now;
  return now;
}
