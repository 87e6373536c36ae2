// Who the worker is: told to the scheduler with the topics that it takes, and to others who call
// themselves the same. Two of one id share its jobs, and each looks to the scheduler as if it came
// and went: people are warned.
#pragma once

#include <functional>
#include <string>

#include "runtime/clock.h"
#include "runtime/random.h"
#include "worker/nats_client.h"
#include "worker/options.h"

namespace fairlead::worker {

class Introduction {
 public:
  using Say = std::function<void(const std::string&)>;

  // All must outlive it.
  Introduction(const Clock& clock, Random& random, NatsClient& client, const Options& options,
               Say say);

  // There is a connection.
  void connected();
  // With every heartbeat: a scheduler that starts later, or forgets after a while, learns the
  // topics from it.
  void repeat();

 private:
  void introduce();
  void hear(const ServerSaid& said);

  const Clock& clock_;
  NatsClient& client_;
  const Options& options_;
  Say say_;
  const std::string own_;  // of this process
  bool warned_ = false;
};

}  // namespace fairlead::worker
