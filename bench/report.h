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
  // `only`: the cases whose name has this in it are run, the others are left out.
  BenchReport(bool json, std::string only) : json_(json), only_(std::move(only)) {}

  bool wants(std::string_view case_name) const { return case_name.contains(only_); }

  // Prints at once. `more` are further figures with their names.
  void add(std::string_view bench, std::string_view case_name, double value, std::string_view unit,
           const std::vector<std::pair<std::string, double>>& more = {});

 private:
  bool json_;
  std::string only_;
};

}  // namespace fairlead::bench
