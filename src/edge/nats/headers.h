// Header blocks: "NATS/1.0[ status[ text]]", then "Name: value" lines, each ended by CR LF, then an
// empty one.
#pragma once

#include <string_view>

namespace fairlead::edge::nats {

inline constexpr std::string_view kMessageIdHeader = "Nats-Msg-Id";
// What a request gets when nobody listens.
inline constexpr std::string_view kNoResponders = "NATS/1.0 503\r\n\r\n";

bool is_header_block(std::string_view block);
// The first value of a header, whatever the case of its name; empty when there is none.
std::string_view header(std::string_view block, std::string_view name);

}  // namespace fairlead::edge::nats
