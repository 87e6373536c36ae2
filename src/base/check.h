// Assertions that stay on in release builds: a broken invariant stops the process with a message
// before it can write something wrong.
#pragma once

#include <source_location>

namespace fairlead {

[[noreturn]] void check_failed(const char* what, std::source_location where);

// Stops the process unless `holds`. `what` says the broken rule in words.
inline void check(bool holds, const char* what,
                  std::source_location where = std::source_location::current()) {
  if (!holds) [[unlikely]]
    check_failed(what, where);
}

}  // namespace fairlead
