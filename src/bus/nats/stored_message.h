// A message as a stream has it: read by its place, or pushed by a consumer.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include <boost/json/object.hpp>

#include "base/ids.h"
#include "base/time.h"

namespace fairlead::bus::nats {

struct StoredMessage {
  Sequence sequence;
  std::string subject;
  std::string payload;
  std::string headers;  // a block; empty: none
  WallTime stored_at;
};

// The `message` of the answer to STREAM.MSG.GET; nothing if it is not readable.
std::optional<StoredMessage> read_stored_message(const boost::json::object& answer);

// What a consumer says about a message that it pushes, in the subject for its acknowledgement.
struct DeliveryPlace {
  uint32_t deliveries = 1;
  Sequence sequence;
  WallTime stored_at;
  uint64_t pending = 0;       // messages that the consumer has still to push
  std::string_view consumer;  // its name, inside the subject
};
// Nothing if the subject is no such subject.
std::optional<DeliveryPlace> read_delivery_place(std::string_view ack_subject);

// A time as JetStream writes it: "2026-11-16T16:50:24.077286906Z".
std::optional<WallTime> read_time(const std::string& text);

// The value of a header in a block; empty: none.
std::string_view header_in(std::string_view block, std::string_view name);

}  // namespace fairlead::bus::nats
