#include <vector>

#include "worker/worker_command.h"

int main(int count, char** words) {
  std::vector<std::string_view> args(words + 1, words + count);
  return fairlead::worker::run(args);
}
