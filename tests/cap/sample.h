// One rule that gives every field of every message a value of its own, so that a field read with
// the wrong number, type or name shows. tests/cap/packets.py follows the same rule:
//
//   string   "<Message>.<field>#<index>"       bytes    0xff 0x00 and the same text
//   int32    -(number + index)                 int64    2^40 + number + index
//   uint64   2^63 + number + index             bool     true
//   float    number + 0.5                      double   number + 0.1
//   enum     its highest value                 Struct   {"key": "value"}
//
// A repeated field has two elements, a map one entry; index counts them from 0.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include <google/protobuf/message.h>

namespace fairlead::cap {

// Fills every field; of the fields in a oneof only the one named `payload`.
void fill_sample(google::protobuf::Message& message, std::string_view payload = "");

// Whether a peer speaks the newest messages or those before dispatch identities.
enum class Generation { kOlder, kNewest };

// True for a message that peers of the older generation do not have. All that is newer hangs on
// these: no scalar field was added to an older message.
bool is_newer_message(const google::protobuf::Descriptor& type);

// One line for every field of `actual` that does not hold its sample value. Of an older peer the
// newer messages must be absent.
std::vector<std::string> sample_differences(const google::protobuf::Message& actual,
                                            Generation peer, std::string_view payload = "");

}  // namespace fairlead::cap
