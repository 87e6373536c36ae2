// How the program is called, and the verbs that it has then.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "base/build.h"

namespace fairlead::cli {

struct Call;

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
  int (*handler)(Call&);      // nullptr: the program has it itself; here it is shown and completed
  size_t words_min = 0;
  size_t words_max = 0;
};

struct Dialect {
  std::string program;  // "fairlead" or "cordumctl"
  bool cordumctl = false;
  Build build = {};  // of this program
  std::vector<Verb> verbs;
};

// The dialect of that name; `own` are verbs that the program has itself.
Dialect dialect_of(std::string program, const Build& build = {}, std::vector<Verb> own = {});

}  // namespace fairlead::cli
