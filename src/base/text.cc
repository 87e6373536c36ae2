#include "base/text.h"

#include <algorithm>
#include <cstdint>
#include <cstring>

namespace fairlead {

namespace {
constexpr std::string_view kWhiteSpace = " \t\r\n\v\f";
}

std::string_view trim(std::string_view text) {
  size_t begin = text.find_first_not_of(kWhiteSpace);
  if (begin == std::string_view::npos) return {};
  return text.substr(begin, text.find_last_not_of(kWhiteSpace) - begin + 1);
}

std::string lower(std::string_view text) {
  std::string out(text);
  for (char& c : out) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  }
  return out;
}

std::vector<std::string> normalised(const std::vector<std::string>& words) {
  std::vector<std::string> out;
  for (const std::string& word : words) {
    std::string_view bare = trim(word);
    if (!bare.empty()) out.push_back(lower(bare));
  }
  std::sort(out.begin(), out.end());
  out.erase(std::unique(out.begin(), out.end()), out.end());
  return out;
}

std::vector<std::string_view> split(std::string_view text, char separator) {
  std::vector<std::string_view> parts;
  while (true) {
    size_t at = text.find(separator);
    parts.push_back(text.substr(0, at));
    if (at == std::string_view::npos) return parts;
    text.remove_prefix(at + 1);
  }
}

std::string join(const std::vector<std::string>& parts, std::string_view separator) {
  std::string out;
  for (size_t i = 0; i < parts.size(); ++i) {
    if (i > 0) out += separator;
    out += parts[i];
  }
  return out;
}

// How many bytes at the front are well-formed.
static size_t well_formed_bytes(std::string_view text) {
  constexpr uint64_t kHighBits = 0x8080808080808080;
  for (size_t i = 0; i < text.size();) {
    // Most text is ASCII: eight bytes at once.
    for (uint64_t eight = 0; i + sizeof eight <= text.size(); i += sizeof eight) {
      std::memcpy(&eight, text.data() + i, sizeof eight);
      if (eight & kHighBits) break;
    }
    if (i == text.size()) break;
    auto first = static_cast<uint8_t>(text[i]);
    size_t more = first < 0x80 ? 0 : first < 0xe0 ? 1 : first < 0xf0 ? 2 : 3;
    if (more == 0) {
      ++i;
      continue;
    }
    if (first < 0xc2 || first > 0xf4 || i + more >= text.size()) return i;
    uint32_t code = first & (0x3f >> more);
    for (size_t j = 1; j <= more; ++j) {
      auto next = static_cast<uint8_t>(text[i + j]);
      if ((next & 0xc0) != 0x80) return i;
      code = code << 6 | (next & 0x3f);
    }
    constexpr uint32_t kLeast[] = {0, 0x80, 0x800, 0x10000};
    if (code < kLeast[more] || code > 0x10ffff || (code >= 0xd800 && code < 0xe000)) return i;
    i += more + 1;
  }
  return text.size();
}

bool is_utf8(std::string_view text) {
  return well_formed_bytes(text) == text.size();
}

std::string well_formed(std::string text) {
  std::string_view rest = text;
  size_t good = well_formed_bytes(rest);
  if (good == rest.size()) return text;
  std::string out;
  while (true) {
    out += rest.substr(0, good);
    if (good == rest.size()) return out;
    out += "\ufffd";
    rest.remove_prefix(good + 1);
    good = well_formed_bytes(rest);
  }
}

std::string_view cut(std::string_view text, size_t bytes_max) {
  if (text.size() <= bytes_max) return text;
  // A byte of this form goes on with the character before it; no character has four of them.
  auto goes_on = [&](size_t at) { return (static_cast<uint8_t>(text[at]) & 0xc0) == 0x80; };
  for (size_t back = 0; back < 4 && back <= bytes_max; ++back) {
    if (!goes_on(bytes_max - back)) return text.substr(0, bytes_max - back);
  }
  return text.substr(0, bytes_max);
}

}  // namespace fairlead
