#include "edge/http/api/text.h"

#include <algorithm>
#include <cctype>
#include <charconv>

#include <fmt/core.h>
#include <openssl/evp.h>

#include "base/limits.h"
#include "base/rfc3339.h"
#include "base/text.h"

namespace fairlead::http {

namespace {

std::string with_dashes(std::string digits, char version) {
  digits[12] = version;
  digits[16] = "89ab"[static_cast<size_t>(digits[16]) % 4];
  return fmt::format("{}-{}-{}-{}-{}", digits.substr(0, 8), digits.substr(8, 4),
                     digits.substr(12, 4), digits.substr(16, 4), digits.substr(20, 12));
}

template <class T>
bool read_number(std::string_view text, T& value) {
  auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  return error == std::errc() && end == text.data() + text.size();
}

// A number with the unit that its size suggests.
std::optional<WallTime> from_number(std::string_view text, Bound bound) {
  int64_t number = 0;
  if (!read_number(text, number) || number < 0) return std::nullopt;
  int64_t micros = 0;
  int64_t unit = 1;  // in microseconds
  if (number < 1'000'000'000'000) {
    unit = 1'000'000;
    micros = number * unit;
  } else if (number < 1'000'000'000'000'000) {
    unit = 1000;
    micros = number * unit;
  } else if (number < 1'000'000'000'000'000'000) {
    micros = number;
  } else {
    micros = number / 1000;
  }
  if (bound == Bound::kUpper) micros += unit - 1;
  return wall_time_from_micros(micros);
}

}  // namespace

std::optional<WallTime> parse_time(std::string_view text, Bound bound) {
  if (auto number = from_number(text, bound)) return number;
  auto parsed = parse_rfc3339(text);
  if (!parsed) return std::nullopt;
  return bound == Bound::kUpper ? parsed->time + parsed->unit - Duration(1) : parsed->time;
}

std::string base64(std::string_view bytes) {
  std::string text(4 * ((bytes.size() + 2) / 3), '\0');
  EVP_EncodeBlock(reinterpret_cast<unsigned char*>(text.data()),
                  reinterpret_cast<const unsigned char*>(bytes.data()),
                  static_cast<int>(bytes.size()));
  return text;
}

std::optional<std::string> from_base64url(std::string_view text) {
  std::string out;
  uint32_t bits = 0;
  int held = 0;
  while (!text.empty() && text.back() == '=') text.remove_suffix(1);
  for (char c : text) {
    constexpr std::string_view kDigits =
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
    size_t digit = kDigits.find(c == '+' ? '-' : c == '/' ? '_' : c);
    if (digit == kDigits.npos) return std::nullopt;
    bits = bits << 6 | static_cast<uint32_t>(digit);
    held += 6;
    if (held >= 8) {
      held -= 8;
      out += static_cast<char>(bits >> held & 0xff);
    }
  }
  return out;
}

std::string hex(std::string_view bytes) {
  std::string text;
  text.reserve(bytes.size() * 2);
  for (char c : bytes) {
    auto byte = static_cast<unsigned char>(c);
    text += "0123456789abcdef"[byte >> 4];
    text += "0123456789abcdef"[byte & 15];
  }
  return text;
}

std::string sha256(std::string_view bytes) {
  std::string digest(32, '\0');
  EVP_Digest(bytes.data(), bytes.size(), reinterpret_cast<unsigned char*>(digest.data()), nullptr,
             EVP_sha256(), nullptr);
  return digest;
}

std::string random_uuid(Random& random) {
  return with_dashes(random.token(), '4');
}

std::string named_uuid(std::string_view name) {
  return with_dashes(hex(sha256(name)).substr(0, 32), '8');
}

bool is_topic(std::string_view topic) {
  if (!topic.starts_with("job.") || topic.size() > limits::kTopicBytesMax) return false;
  return std::ranges::all_of(split(topic, '.'), [](std::string_view part) {
    return !part.empty() && std::ranges::all_of(part, [](char c) {
      return std::isalnum(static_cast<unsigned char>(c)) || c == '-' || c == '_';
    });
  });
}

size_t characters(std::string_view text) {
  return static_cast<size_t>(std::ranges::count_if(
      text, [](char c) { return (static_cast<unsigned char>(c) & 0xc0) != 0x80; }));
}

}  // namespace fairlead::http
