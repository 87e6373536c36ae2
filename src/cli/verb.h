// The verbs as a table: dispatch, help and completion are made from it.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "cli/call.h"

namespace fairlead::cli {

struct Flag {
  std::string_view name;   // without its dashes
  std::string_view value;  // what it takes, "" for a flag that is there or not
  std::string_view help;
};

struct Verb {
  std::string_view name;   // "job submit"
  std::string_view words;  // "[PROMPT]"
  std::string_view help;   // one line
  std::vector<Flag> flags;
  std::string_view examples;  // lines without the program's name
  int (*handler)(Call&);      // nullptr: the program has it, not this table
  size_t words_min = 0;
  size_t words_max = 0;
};

// Those that every verb takes.
std::span<const Flag> common_flags(const Dialect& dialect);
std::span<const Verb> verbs_of(const Dialect& dialect);

std::string help_of(const Dialect& dialect);
std::string help_of(const Dialect& dialect, const Verb& verb);
// A script for bash.
std::string bash_completion(const Dialect& dialect);

// The tables, by what they are about.
std::vector<Verb> job_verbs();
std::vector<Verb> dlq_verbs();
std::vector<Verb> fleet_verbs();
std::vector<Verb> server_verbs();
std::vector<Verb> cordumctl_verbs();

}  // namespace fairlead::cli
