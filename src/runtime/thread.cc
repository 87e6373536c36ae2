#include "runtime/thread.h"

#include <pthread.h>

namespace fairlead {

Thread::Thread(std::string name, std::function<void()> body) : thread_(std::move(body)) {
  // Named by its creator: whoever looks once this has returned finds the name, however late the
  // thread itself gets to run.
  pthread_setname_np(thread_.native_handle(), name.substr(0, 15).c_str());
}

void Thread::join() {
  if (thread_.joinable()) thread_.join();
}

}  // namespace fairlead
