// The value below which a part of all values lies.
#pragma once

#include <algorithm>
#include <cstddef>
#include <vector>

namespace fairlead::bench {

inline double percentile(std::vector<double>& values, double part) {
  if (values.empty()) return 0;
  size_t at = static_cast<size_t>(part * static_cast<double>(values.size() - 1));
  std::nth_element(values.begin(), values.begin() + static_cast<std::ptrdiff_t>(at), values.end());
  return values[at];
}

}  // namespace fairlead::bench
