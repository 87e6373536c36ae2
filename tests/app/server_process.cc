#include "tests/app/server_process.h"

namespace fairlead::app {

std::string program() {
  return FAIRLEAD_PROGRAM;
}

}  // namespace fairlead::app
