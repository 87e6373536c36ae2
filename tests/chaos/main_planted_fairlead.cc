// planted_fairlead BUG serve …: `fairlead serve` with a bug of base/planted.h, for campaigns that
// must find it.
#include <algorithm>
#include <cstdio>
#include <string_view>
#include <vector>

#include "app/server_commands.h"
#include "base/planted.h"

int main(int count, char** arguments) {
  const std::vector<std::string_view> words(arguments, arguments + count);
  const auto is_named = [&](fairlead::PlantedBug bug) { return words[1] == to_string(bug); };
  if (words.size() < 3 || words[2] != "serve" ||
      std::ranges::none_of(fairlead::kPlantedBugs, is_named)) {
    std::fputs("usage: planted_fairlead BUG serve …\n", stderr);
    return 2;
  }
  fairlead::planted_bug = *std::ranges::find_if(fairlead::kPlantedBugs, is_named);
  return fairlead::app::serve(std::span(words).subspan(3));
}
