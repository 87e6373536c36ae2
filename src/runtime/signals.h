// Signals of the operating system as calls on a thread of their own, where anything may be done.
#pragma once

#include <functional>
#include <vector>

#include "runtime/thread.h"

namespace fairlead {

class Signals {
 public:
  // From now on the signals `numbers` do nothing but call `handler`. Threads must be started after
  // it: those from before would still be interrupted.
  Signals(const std::vector<int>& numbers, std::function<void(int number)> handler);
  // No call is made after it. The signals stay as they are.
  ~Signals();
  Signals(const Signals&) = delete;
  Signals& operator=(const Signals&) = delete;

 private:
  void listen();

  std::function<void(int)> handler_;
  int signals_ = -1;
  int end_ = -1;
  Thread thread_;
};

}  // namespace fairlead
