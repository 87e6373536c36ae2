// Text within a URL.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace fairlead {

// What "%40" and the like stand for; nothing where a '%' begins no two hexadecimal digits.
std::optional<std::string> percent_decoded(std::string_view text);

}  // namespace fairlead
