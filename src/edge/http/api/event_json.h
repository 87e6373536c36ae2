// Events as the stream sends them.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "cordum/agent/v1/buspacket.pb.h"
#include "edge/http/api/message.h"
#include "job/record.h"

namespace fairlead::http {

inline constexpr const char* kStatusChanged = "job.status_changed";

// {"type": "job.status_changed", "job_id", "state", …} of a record as it was committed.
json::object status_event(const job::Record& record);

// A packet of the bus in protobuf's JSON, with createdAt as {seconds, nanos}, and without what its
// sender showed to prove who it is. A denied result loses its pointers.
struct PacketEvent {
  std::string name;  // "job.request", "job.result", "job.progress", "job.cancel",
                     // "worker.heartbeat", "alert"
  std::string job;
  std::string tenant;  // where the packet says it
  std::string data;
};
// Nothing for bytes that are no packet, and for packets that no reader is told of.
std::optional<PacketEvent> packet_event(std::string_view bytes);

}  // namespace fairlead::http
