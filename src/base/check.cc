#include "base/check.h"

#include <cstdio>
#include <cstdlib>

namespace fairlead {

void check_failed(const char* what, std::source_location where) {
  std::fprintf(stderr, "fairlead: broken invariant: %s (%s:%u, %s)\n", what, where.file_name(),
               where.line(), where.function_name());
  std::abort();
}

}  // namespace fairlead
