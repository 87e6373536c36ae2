#include "runtime/signals.h"

#include <csignal>
#include <cstdint>

#include <poll.h>
#include <sys/eventfd.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include "base/check.h"

namespace fairlead {

Signals::Signals(const std::vector<int>& numbers, std::function<void(int)> handler)
    : handler_(std::move(handler)) {
  sigset_t set;
  sigemptyset(&set);
  for (int number : numbers) sigaddset(&set, number);
  check(pthread_sigmask(SIG_BLOCK, &set, nullptr) == 0, "signals can be blocked");
  signals_ = ::signalfd(-1, &set, SFD_CLOEXEC);
  end_ = ::eventfd(0, EFD_CLOEXEC);
  check(signals_ >= 0 && end_ >= 0, "there are file descriptors for signals");
  thread_ = Thread("signals", [this] { listen(); });
}

Signals::~Signals() {
  const uint64_t one = 1;
  (void)!::write(end_, &one, sizeof(one));
  thread_.join();
  ::close(signals_);
  ::close(end_);
}

void Signals::listen() {
  pollfd waits[] = {{signals_, POLLIN, 0}, {end_, POLLIN, 0}};
  while (true) {
    if (::poll(waits, 2, -1) < 0) continue;
    if (waits[1].revents != 0) return;
    signalfd_siginfo info{};
    if (::read(signals_, &info, sizeof(info)) != sizeof(info)) continue;
    handler_(static_cast<int>(info.ssi_signo));
  }
}

}  // namespace fairlead
