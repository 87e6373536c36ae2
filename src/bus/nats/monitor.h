// The monitoring port of nats-server, which speaks HTTP: one question, on a thread of its own.
#pragma once

#include <memory>
#include <string>

#include "base/result.h"
#include "runtime/future.h"
#include "runtime/loop.h"
#include "runtime/thread.h"

namespace fairlead::bus::nats {

class Monitor {
 public:
  // `loop` must outlive it.
  explicit Monitor(Loop& loop) : loop_(loop) {}
  Monitor(const Monitor&) = delete;
  Monitor& operator=(const Monitor&) = delete;
  // Waits for a question that is under way: limits::kNatsConnectWait at the most.
  ~Monitor();

  // The body of the answer. `url` is "http://host:port". REQUIRES: called once.
  Future<Result<std::string>> get(const std::string& url, std::string path);

 private:
  using Waiting = Completer<Result<std::string>>;

  Loop& loop_;
  std::shared_ptr<Waiting> waiting_;
  Thread thread_;
};

}  // namespace fairlead::bus::nats
