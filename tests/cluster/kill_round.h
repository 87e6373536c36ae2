// One round of killing a replica under load: jobs come over the API and over the bus, so many are
// in flight, workers give them back at a steady pace, and amid that one replica gets SIGKILL. The
// only one is started again three seconds later; of several, the others go on. Then every job that
// was acknowledged is looked up in Redis.
#pragma once

#include <cstddef>
#include <string>

namespace fairlead::cluster {

struct KillOptions {
  bool jetstream = true;
  int replicas = 1;
  size_t jobs = 2000;
  size_t in_flight = 1000;
};

struct KillReport {
  size_t acknowledged = 0;
  size_t succeeded = 0;
  size_t lost = 0;          // acknowledged, and not in the store
  size_t undelivered = 0;   // that no worker ever got
  size_t results_lost = 0;  // answered by a worker, and yet not ended: they go on by their timeout
  size_t ended_badly = 0;   // in another state than SUCCEEDED
  size_t run_again = 0;     // that workers got in more than one epoch
  size_t repeated_epochs = 0;
  // The longest that a job waited for the schedulers: from its submit to a worker, or from a
  // worker's answer to its end, without the time in which there was no scheduler at all.
  double longest_stall_s = 0;
  std::string longest_stalled;

  std::string text() const;
};

KillReport run_kill_round(const KillOptions& options);

// What is promised of such a round and was not kept, in a sentence; empty when all is well. Without
// a stream a result that is sent while no scheduler listens is lost by NATS; a job never is.
std::string broken_promise(const KillOptions& options, const KillReport& report);

}  // namespace fairlead::cluster
