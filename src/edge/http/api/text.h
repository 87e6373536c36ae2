// Texts of the API: times, base64, ids.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/rfc3339.h"
#include "job/pointer.h"
#include "runtime/random.h"

namespace fairlead::http {

using job::key_of_pointer;
using job::pointer_to;

// A moment given as a number of seconds, milliseconds, microseconds or nanoseconds since 1970,
// told apart by size, or as RFC 3339 in UTC. An upper bound is the end of the unit it names.
// Nothing for any other text.
enum class Bound { kLower, kUpper };
std::optional<WallTime> parse_time(std::string_view text, Bound bound);

std::string base64(std::string_view bytes);
std::optional<std::string> from_base64url(std::string_view text);

std::string hex(std::string_view bytes);
// The 32 raw bytes.
std::string sha256(std::string_view bytes);

std::string random_uuid(Random& random);
// The same for the same name.
std::string named_uuid(std::string_view name);

inline std::string context_key(std::string_view job) {
  return "ctx:" + std::string(job);
}

// How many characters UTF-8 text has.
size_t characters(std::string_view text);

// "job." and then words of letters, digits, '-' and '_' between single dots.
bool is_topic(std::string_view topic);
inline constexpr const char* kTopicRule =
    "must be \"job.\" and words of letters, digits, '-' and '_' between dots";

}  // namespace fairlead::http
