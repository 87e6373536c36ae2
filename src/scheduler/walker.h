// A job on its walk, and how far a walk led.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/recycled.h"
#include "cordum/agent/v1/job.pb.h"
#include "job/record.h"
#include "scheduler/ending.h"
#include "scheduler/lease_keeper.h"
#include "scheduler/packets.h"
#include "store/change.h"

namespace fairlead::scheduler {

namespace cap = cordum::agent::v1;

using Admitted = std::shared_ptr<store::Snapshot>;  // nullptr: nobody asks

// A job on its walk, under its lease.
struct Walker : Recycled {
  explicit Walker(Packet given = {}) : packet(std::move(given)) {}

  const cap::JobRequest& request() const { return packet->job_request(); }
  bool is_new() const { return record.revision == Revision(); }
  bool stores_request() const { return is_new() || brings_request; }

  std::string token;
  job::Record record;
  // Holds the request until the job has a route.
  Packet packet;
  // The request as it came. It is stored with the next commit when the store does not have it.
  std::string request_bytes;
  bool brings_request = false;
  // What is configured for it, when that was looked up.
  std::string effective_config;
  // Given the record that its first commit makes, or that was there: for who handed it in.
  Admitted admitted;
  // The message that it came with: the next commit answers it.
  std::optional<Sequence> consumed;
  std::string mark;
  bool was_in_flight = false;  // as store::Change has it
  // How it was claimed, if it was.
  std::optional<store::Claim> claim;
  // Of a job that waits in a class: where its schedule of attempts begins, with how many made, and
  // when the next falls due.
  WallTime wait_base;
  uint32_t attempts_at_base = 0;
  Duration next_attempt{};
  // It may be with its assignee already.
  bool same_worker = false;
  // It was out by its record: what it does not take again makes room for others.
  bool held_slots = false;
  // States entered since the last commit.
  std::vector<job::State> path;
  MonotonicTime began;
};

using WalkerPtr = std::unique_ptr<Walker>;

// Of a job that was stored: without a request when that cannot be read.
WalkerPtr walker_of(LeaseKeeper::Taken taken);
// How such a job ends.
Ending unreadable_request();

enum class Outcome {
  kDispatched,  // committed; being handed to the bus
  kWaits,
  kEnded,
  kLost,    // the record or the lease is somebody else's now
  kFailed,  // the store could not say; nothing may be assumed
};

struct Walked {
  Outcome outcome = Outcome::kFailed;
  Error error;       // of kFailed
  Duration pause{};  // of kWaits: to be left alone for as long, where the record does not say so
  bool left_class = false;  // it waits no longer in the class that it was claimed from
};

Walked failed(Error error);

// A job that waits in a class has made the attempts that its schedule says.
inline bool waits_in_class(const job::Record& record) {
  return record.wait && !record.wait->wait_class.empty();
}

}  // namespace fairlead::scheduler
