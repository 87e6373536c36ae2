#include "edge/nats/headers.h"

#include "base/text.h"

namespace fairlead::edge::nats {

bool is_header_block(std::string_view block) {
  return block.starts_with("NATS/1.0") && block.ends_with("\r\n\r\n");
}

std::string_view header(std::string_view block, std::string_view name) {
  const std::string wanted = lower(name);
  for (size_t at = block.find("\r\n"); at != std::string_view::npos;) {
    at += 2;
    size_t end = block.find("\r\n", at);
    if (end == std::string_view::npos) break;
    const std::string_view line = block.substr(at, end - at);
    const size_t colon = line.find(':');
    if (colon == wanted.size() && lower(line.substr(0, colon)) == wanted) {
      return trim(line.substr(colon + 1));
    }
    at = end;
  }
  return {};
}

}  // namespace fairlead::edge::nats
