#include "runtime/thread.h"

#include <pthread.h>

namespace fairlead {

Thread::Thread(std::string name, std::function<void()> body)
    : thread_([name = name.substr(0, 15), body = std::move(body)] {
        pthread_setname_np(pthread_self(), name.c_str());
        body();
      }) {}

void Thread::join() {
  if (thread_.joinable()) thread_.join();
}

}  // namespace fairlead
