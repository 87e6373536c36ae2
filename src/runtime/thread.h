// The few threads there are: each has a name and is joined by its owner.
#pragma once

#include <functional>
#include <string>
#include <thread>

namespace fairlead {

class Thread {
 public:
  Thread() = default;
  Thread(std::string name, std::function<void()> body);
  Thread(Thread&&) = default;
  Thread& operator=(Thread&&) = default;

  void join();

 private:
  std::jthread thread_;
};

}  // namespace fairlead
