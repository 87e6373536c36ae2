// What the verbs of cordumctl share.
#pragma once

#include <cstdio>
#include <initializer_list>
#include <string>
#include <string_view>

#include <fmt/core.h>

#include <boost/json/array.hpp>

#include "cli/call.h"
#include "cli/output.h"

namespace fairlead::cli {

inline std::string api_path(std::initializer_list<std::string_view> parts) {
  std::string target = "/api/v1";
  for (std::string_view part : parts) target += "/" + percent_encoded(part);
  return target;
}

inline int print_json(const json::value& value) {
  fmt::print("{}", pretty(value));
  return kDone;
}

inline json::array list_of(const Call& call, const std::string& flag) {
  json::array array;
  for (const std::string& entry : call.list(flag)) array.emplace_back(entry);
  return array;
}

}  // namespace fairlead::cli
