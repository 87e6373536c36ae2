// The packets that a scheduler sends, and the reading of those it gets.
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"
#include "base/time.h"
#include "cordum/agent/v1/buspacket.pb.h"
#include "job/record.h"
#include "routing/worker.h"
#include "store/change.h"

namespace fairlead::scheduler {

namespace cap = cordum::agent::v1;

// Parses a packet and demands what every packet has: a trace id, a sender and a payload.
Result<cap::BusPacket> read_packet(std::string_view bytes);

// The job as its worker gets it: the request with constraints and the identity of this dispatch.
std::string dispatch_packet(const job::Record& record, cap::JobRequest request, WallTime now);
// The id of a dispatch on the bus: "jobreq:<job>:<epoch>".
std::string dispatch_id(const JobId& job, Epoch epoch);

// The dead letter of an ended job as a message for sys.job.dlq.
store::Message dead_letter_message(const store::DeadLetter& entry, Revision revision, WallTime now);

std::string cancel_packet(const JobId& job, std::string_view reason, WallTime now);

routing::WorkerReport report_of(const cap::Heartbeat& heartbeat);

}  // namespace fairlead::scheduler
