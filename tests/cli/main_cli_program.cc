// The verbs alone; called by a link named cordumctl it is that.
#include <filesystem>
#include <vector>

#include "cli/cli.h"

int main(int count, char** words) {
  const std::string name = std::filesystem::path(words[0]).filename();
  std::vector<std::string_view> args(words + 1, words + count);
  return fairlead::cli::run(name == "cordumctl" ? name : "fairlead", args, {});
}
