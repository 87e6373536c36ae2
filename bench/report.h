// What a bench found out, a line at a time, for people or for programs.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace fairlead::bench {

class BenchReport {
 public:
  // `json`: one object a line, {"bench":…,"case":…,"value":…,"unit":…, more…}; else aligned text.
  explicit BenchReport(bool json) : json_(json) {}

  // Prints at once. `more` are further figures with their names.
  void add(std::string_view bench, std::string_view case_name, double value, std::string_view unit,
           const std::vector<std::pair<std::string, double>>& more = {});

 private:
  bool json_;
};

}  // namespace fairlead::bench
