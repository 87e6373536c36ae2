// Of a job's labels, those that say where it may run (RT-6).
#pragma once

#include <string_view>

namespace fairlead::job {

inline bool is_placement_label(std::string_view name) {
  return name.starts_with("placement.") || name.starts_with("constraint.") ||
         name.starts_with("node.");
}

}  // namespace fairlead::job
