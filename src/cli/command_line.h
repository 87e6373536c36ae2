// Words into a verb, its flags and its words.
#pragma once

#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "cli/verb.h"

namespace fairlead::cli {

struct CommandLine {
  const Verb* verb = nullptr;  // none: help about everything, or about a group
  bool help = false;
  std::string group;  // "job": help about the verbs that begin with it
  std::vector<std::string> words;
  std::map<std::string, std::vector<std::string>> flags;
};

// Flags stand before or behind the words, with one dash or two when called as cordumctl; a "--"
// ends them. The error is one line.
Result<CommandLine> parse_command_line(const Dialect& dialect,
                                       std::span<const std::string_view> args);

}  // namespace fairlead::cli
