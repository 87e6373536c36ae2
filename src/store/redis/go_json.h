// JSON as the Go services write and read it.
#pragma once

#include <string>
#include <string_view>

#include <google/protobuf/message.h>

#include "base/result.h"
#include "cordum/agent/v1/job.pb.h"
#include "job/record.h"
#include "store/change.h"

namespace fairlead::store::redis {

// protojson with EmitUnpopulated: every field, unset messages as null, 64-bit numbers as text.
std::string to_protojson(const google::protobuf::Message& message);
// Unknown fields are passed over.
Result<cordum::agent::v1::JobRequest> request_from_protojson(std::string_view json);

// A text in quotation marks; what is no UTF-8 in it is replaced.
std::string json_quoted(std::string_view text);

// {"ts":<microseconds>,"state":"<STATE>"}
std::string event_json(WallTime at, job::State state);
// That, or the old form <microseconds>|<STATE>; kCorrupt for any other.
Result<job::Event> parse_event(std::string_view text);

// The entry of a dead letter, with our tenant beside the Go services' fields.
std::string dead_letter_json(const DeadLetter& entry);
Result<DeadLetter> parse_dead_letter(std::string_view json);

}  // namespace fairlead::store::redis
