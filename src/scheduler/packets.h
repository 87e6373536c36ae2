// The packets that a scheduler sends, and the reading of those it gets.
#pragma once

#include <array>
#include <memory>
#include <string>
#include <string_view>

#include <google/protobuf/arena.h>

#include "base/recycled.h"
#include "base/result.h"
#include "base/time.h"
#include "cordum/agent/v1/buspacket.pb.h"
#include "job/record.h"
#include "routing/worker.h"
#include "store/change.h"

namespace fairlead::scheduler {

namespace cap = cordum::agent::v1;

// A packet whose parts lie together in memory and go together.
class Packet {
 public:
  Packet() : memory_(std::make_unique<Memory>()) {}

  cap::BusPacket& operator*() const { return *memory_->packet; }
  cap::BusPacket* operator->() const { return memory_->packet; }

  // Lets go of all it holds. REQUIRES: it is not looked at any more.
  void reset() { memory_.reset(); }

 private:
  struct Memory : Recycled {
    Memory() {}  // the block is not to be filled with zeros first

    // Enough for a usual packet; a larger one adds blocks.
    std::array<char, 3840> block;
    google::protobuf::Arena arena{block.data(), block.size()};
    cap::BusPacket* packet = google::protobuf::Arena::CreateMessage<cap::BusPacket>(&arena);
  };
  std::unique_ptr<Memory> memory_;
};

// Parses a packet and demands what every packet has: a sender, a payload and, unless it only shows
// that somebody lives (a heartbeat or handshake), a trace id.
Result<Packet> read_packet(std::string_view bytes);
// Of bytes that were refused, as metrics tell it: they are no packet, or one that lacks something.
const char* unreadable_because(std::string_view bytes);

// The job as its worker gets it: the bytes of its request, and behind them, where they count more,
// what is left of its time, what the policy demands and the identity of this dispatch.
struct DispatchPacket {
  std::string bytes;
  bool tells_constraints = true;  // false: the policy's could not be read; its numbers still hold
};
// `effective_config` is what is configured for it, if anything is.
DispatchPacket dispatch_packet(const job::Record& record, std::string_view request_bytes,
                               WallTime now, const std::string& effective_config = {});
// The id of a dispatch on the bus: "jobreq:<job>:<epoch>".
std::string dispatch_id(const JobId& job, Epoch epoch);

// The dead letter as a message for sys.job.dlq: of a job as it will be when its end is committed.
store::Message dead_letter_message(const job::Record& ended, WallTime now);
// Of one that belongs to no record.
store::Message dead_letter_message(const store::DeadLetter& entry);

std::string cancel_packet(const JobId& job, std::string_view reason, WallTime now);
// The same, to go with the commit that ends the job.
store::Message cancel_message(const JobId& job, std::string_view reason, WallTime now);

routing::WorkerReport report_of(const cap::Heartbeat& heartbeat);

// Says that this scheduler is there (nobody answers).
std::string handshake_packet(std::string trace, WallTime now);
// Says that configuration was changed: whoever keeps any reads it again.
std::string config_changed_packet(std::string_view scope, std::string_view scope_id, WallTime now);
// Whether a packet says that.
bool is_config_changed(const cap::BusPacket& packet);

}  // namespace fairlead::scheduler
