#include "bench/report.h"

#include <cstdio>

#include <fmt/format.h>

namespace fairlead::bench {

namespace {

// Enough digits to compare runs by, none that are noise.
std::string figure(double value) {
  return value >= 1000 ? fmt::format("{:.0f}", value) : fmt::format("{:.4g}", value);
}

}  // namespace

void BenchReport::add(std::string_view bench, std::string_view case_name, double value,
                      std::string_view unit,
                      const std::vector<std::pair<std::string, double>>& more) {
  std::string line;
  if (json_) {
    line = fmt::format(R"({{"bench":"{}","case":"{}","value":{},"unit":"{}")", bench, case_name,
                       figure(value), unit);
    for (const auto& [name, extra] : more) line += fmt::format(R"(,"{}":{})", name, figure(extra));
    line += '}';
  } else {
    line = fmt::format("{:<10} {:<32} {:>12} {:<10}", bench, case_name, figure(value), unit);
    for (const auto& [name, extra] : more) line += fmt::format("  {} {}", name, figure(extra));
  }
  std::puts(line.c_str());
  std::fflush(stdout);
}

}  // namespace fairlead::bench
