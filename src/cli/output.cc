#include "cli/output.h"

#include <algorithm>

#include <fmt/core.h>

#include <boost/json/serialize.hpp>

namespace fairlead::cli {

namespace {

// Characters, not bytes: continuation bytes take no place.
size_t width(std::string_view text) {
  return static_cast<size_t>(std::ranges::count_if(
      text, [](char c) { return (static_cast<unsigned char>(c) & 0xc0) != 0x80; }));
}

void write_pretty(const json::value& value, size_t depth, std::string& out) {
  const std::string inner(2 * (depth + 1), ' '), outer(2 * depth, ' ');
  if (value.is_object() && !value.get_object().empty()) {
    out += "{\n";
    const char* before = "";
    for (const auto& [name, entry] : value.get_object()) {
      out += before + inner + json::serialize(json::string(name)) + ": ";
      write_pretty(entry, depth + 1, out);
      before = ",\n";
    }
    out += "\n" + outer + "}";
  } else if (value.is_array() && !value.get_array().empty()) {
    out += "[\n";
    const char* before = "";
    for (const json::value& entry : value.get_array()) {
      out += before + inner;
      write_pretty(entry, depth + 1, out);
      before = ",\n";
    }
    out += "\n" + outer + "]";
  } else if (value.is_double()) {
    out += fmt::format("{}", value.get_double());  // 0.1, not 1E-1
  } else {
    out += json::serialize(value);
  }
}

}  // namespace

const json::value& member(const json::value& value, std::string_view name) {
  static const json::value none;
  if (!value.is_object()) return none;
  const json::value* found = value.get_object().if_contains(name);
  return found ? *found : none;
}

std::string text_at(const json::value& value, std::string_view name) {
  const json::value& found = member(value, name);
  if (found.is_null()) return "";
  if (found.is_string()) return std::string(found.get_string());
  if (found.is_array()) {
    std::string list;
    for (const json::value& entry : found.get_array()) {
      const std::string text =
          entry.is_string() ? std::string(entry.get_string()) : json::serialize(entry);
      list += (list.empty() ? "" : ", ") + text;
    }
    return list;
  }
  if (found.is_double()) return fmt::format("{:.4g}", found.get_double());
  return json::serialize(found);
}

double number_at(const json::value& value, std::string_view name) {
  const json::value& found = member(value, name);
  return found.is_number() ? found.to_number<double>() : 0;
}

const json::array& items_of(const json::value& value) {
  static const json::array none;
  if (value.is_array()) return value.get_array();
  const json::value& items = member(value, "items");
  return items.is_array() ? items.get_array() : none;
}

std::string pretty(const json::value& value) {
  std::string out;
  write_pretty(value, 0, out);
  return out + "\n";
}

std::string Table::text() const {
  std::vector<size_t> widths(rows_[0].size());
  for (const auto& row : rows_) {
    for (size_t i = 0; i < row.size(); ++i) widths[i] = std::max(widths[i], width(row[i]));
  }
  std::string out;
  for (const auto& row : rows_) {
    std::string line;
    for (size_t i = 0; i < row.size(); ++i) {
      line += printable(row[i]);
      if (i + 1 < row.size()) line += std::string(widths[i] - width(row[i]) + 2, ' ');
    }
    while (line.ends_with(' ')) line.pop_back();
    out += line + "\n";
  }
  return out;
}

std::string listing(const std::vector<std::pair<std::string, std::string>>& lines) {
  size_t widest = 0;
  for (const auto& [name, value] : lines) {
    if (!value.empty()) widest = std::max(widest, name.size());
  }
  std::string out;
  for (const auto& [name, value] : lines) {
    if (value.empty()) continue;
    out += name + ":" + std::string(widest - name.size() + 2, ' ') + printable(value) + "\n";
  }
  return out;
}

std::string short_time(Duration duration) {
  const auto seconds = std::chrono::duration_cast<std::chrono::seconds>(duration).count();
  if (seconds < 0) return "0s";
  if (seconds < 120) return fmt::format("{}s", seconds);
  if (seconds < 7200) return fmt::format("{}m", seconds / 60);
  if (seconds < 172800) return fmt::format("{}h", seconds / 3600);
  return fmt::format("{}d", seconds / 86400);
}

std::string age(WallTime now, double micros) {
  if (micros <= 0) return "";
  return short_time(now - wall_time_from_micros(static_cast<int64_t>(micros)));
}

std::string printable(std::string_view text) {
  std::string out(text);
  for (char& c : out) {
    if (static_cast<unsigned char>(c) < ' ' || c == 127) c = ' ';
  }
  return out;
}

}  // namespace fairlead::cli
