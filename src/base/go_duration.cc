#include "base/go_duration.h"

#include <array>
#include <charconv>
#include <cmath>

#include <fmt/format.h>

namespace fairlead {

namespace {

struct Unit {
  std::string_view name;
  double micros;
};
// Longer names first: "ms" is not "m".
constexpr std::array kUnits = {Unit{"ns", 1e-3}, Unit{"us", 1},  Unit{"µs", 1},   Unit{"ms", 1e3},
                               Unit{"s", 1e6},   Unit{"m", 6e7}, Unit{"h", 3.6e9}};
constexpr double kMicrosMax = 9e18;

}  // namespace

Result<Duration> parse_go_duration(std::string_view text) {
  auto wrong = [whole = text] {
    return fail(ErrorCode::kInvalid,
                fmt::format("\"{}\" is no duration such as 30s, 10m or 168h", whole));
  };
  double micros = 0;
  if (text.empty()) return wrong();
  if (text == "0") return Duration(0);
  while (!text.empty()) {
    double number = 0;
    auto [end, error] =
        std::from_chars(text.data(), text.data() + text.size(), number, std::chars_format::fixed);
    if (error != std::errc{} || std::signbit(number)) return wrong();
    text.remove_prefix(static_cast<size_t>(end - text.data()));
    const Unit* unit = nullptr;
    for (const Unit& each : kUnits) {
      if (!unit && text.starts_with(each.name)) unit = &each;
    }
    if (!unit) return wrong();
    text.remove_prefix(unit->name.size());
    micros += number * unit->micros;
    if (!(micros < kMicrosMax)) return wrong();
  }
  return Duration(std::llround(std::floor(micros)));
}

}  // namespace fairlead
