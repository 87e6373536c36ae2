#include "worker/progress_line.h"

#include <algorithm>
#include <charconv>

#include <boost/json/parse.hpp>

#include "base/text.h"

namespace fairlead::worker {

namespace {

namespace json = boost::json;

size_t sequence_length(std::string_view text) {
  const auto first = static_cast<unsigned char>(text[0]);
  size_t length = first < 0x80                    ? 1
                  : first >= 0xc2 && first < 0xe0 ? 2
                  : first >= 0xe0 && first < 0xf0 ? 3
                  : first >= 0xf0 && first < 0xf5 ? 4
                                                  : 0;
  if (length == 0 || length > text.size()) return 0;
  for (size_t i = 1; i < length; ++i) {
    if ((static_cast<unsigned char>(text[i]) & 0xc0) != 0x80) return 0;
  }
  const auto second = length > 1 ? static_cast<unsigned char>(text[1]) : 0;
  if (first == 0xe0 && second < 0xa0) return 0;  // too long a form
  if (first == 0xed && second > 0x9f) return 0;  // half of a pair
  if (first == 0xf0 && second < 0x90) return 0;
  if (first == 0xf4 && second > 0x8f) return 0;
  return length;
}

int whole_percent(double percent) {
  return percent >= 0 ? static_cast<int>(std::min(percent, 100.0)) : 0;  // not of no number
}

std::optional<ProgressLine> from_json(std::string_view line) {
  boost::system::error_code error;
  const json::value value = json::parse(line, error);
  if (error || !value.is_object()) return std::nullopt;
  ProgressLine progress;
  const json::object& object = value.get_object();
  if (const json::value* percent = object.if_contains("percent"); percent && percent->is_number()) {
    progress.percent = whole_percent(percent->to_number<double>());
  }
  if (const json::value* message = object.if_contains("message"); message && message->is_string()) {
    progress.message = message->get_string();
  }
  if (const json::value* step = object.if_contains("step"); step && step->is_string()) {
    progress.step = step->get_string();
  }
  return progress;
}

}  // namespace

std::optional<ProgressLine> parse_progress(std::string_view line) {
  const std::string text = as_utf8(trim(line));
  if (text.empty()) return std::nullopt;
  if (text.starts_with('{')) {
    if (auto progress = from_json(text)) return progress;
  }
  ProgressLine progress;
  double percent = 0;
  const char* end = text.data() + text.size();
  auto [after, error] = std::from_chars(text.data(), end, percent);
  std::string_view rest = text;
  if (error == std::errc()) {
    std::string_view behind(after, static_cast<size_t>(end - after));
    if (behind.starts_with('%')) behind.remove_prefix(1);
    if (behind.empty() || behind.starts_with(' ')) {
      progress.percent = whole_percent(percent);
      rest = trim(behind);
    }
  }
  progress.message = rest;
  return progress;
}

std::string as_utf8(std::string_view bytes) {
  std::string text;
  text.reserve(bytes.size());
  while (!bytes.empty()) {
    const size_t length = sequence_length(bytes);
    if (length == 0) {
      text += '?';
      bytes.remove_prefix(1);
    } else {
      text += bytes.substr(0, length);
      bytes.remove_prefix(length);
    }
  }
  return text;
}

}  // namespace fairlead::worker
