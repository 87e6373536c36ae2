#include "edge/resp/reply_text.h"

#include <algorithm>

#include <fmt/format.h>

namespace fairlead::edge::resp {

std::string simple(std::string_view text) {
  return fmt::format("+{}\r\n", text);
}

std::string error(std::string_view text) {
  std::string line(text.substr(0, 256));
  std::ranges::replace_if(line, [](char byte) { return byte == '\r' || byte == '\n'; }, ' ');
  return fmt::format("-{}\r\n", line);
}

std::string number(int64_t value) {
  return fmt::format(":{}\r\n", value);
}

std::string bulk(std::string_view bytes) {
  std::string text = fmt::format("${}\r\n", bytes.size());
  text.reserve(text.size() + bytes.size() + 2);
  return text.append(bytes).append("\r\n");
}

std::string null(Version version) {
  return version == Version::kThree ? "_\r\n" : "$-1\r\n";
}

std::string array(size_t elements) {
  return fmt::format("*{}\r\n", elements);
}

std::string map(size_t pairs, Version version) {
  return version == Version::kThree ? fmt::format("%{}\r\n", pairs) : array(2 * pairs);
}

}  // namespace fairlead::edge::resp
