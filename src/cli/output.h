// How answers are shown.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <boost/json/value.hpp>

#include "base/time.h"

namespace fairlead::cli {

namespace json = boost::json;

// The text of a member; numbers and truths in words, lists with commas; "" when it is
// missing or null.
std::string text_at(const json::value& value, std::string_view name);
double number_at(const json::value& value, std::string_view name);
// The member itself; null when there is none.
const json::value& member(const json::value& value, std::string_view name);
// Of {"items": […]} or of a bare array.
const json::array& items_of(const json::value& value);

std::string pretty(const json::value& value);

// Columns under their names, two spaces between them.
class Table {
 public:
  explicit Table(std::vector<std::string> names) : rows_{std::move(names)} {}
  void add(std::vector<std::string> row) { rows_.push_back(std::move(row)); }
  bool empty() const { return rows_.size() == 1; }
  std::string text() const;

 private:
  std::vector<std::vector<std::string>> rows_;
};

// "name:  value" lines; those without a value are left out.
std::string listing(const std::vector<std::pair<std::string, std::string>>& lines);

// "3s", "2m", "4h", "5d".
std::string short_time(Duration duration);
// How long ago, of microseconds since 1970; "" for 0.
std::string age(WallTime now, double micros);

// Without what would move a terminal's cursor or change its colours.
std::string printable(std::string_view text);

}  // namespace fairlead::cli
