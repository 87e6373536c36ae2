// Reading a small file.
#pragma once

#include <cstddef>
#include <string>

#include "base/result.h"

namespace fairlead::app {

inline constexpr size_t kSettingsFileBytesMax = 1 << 20;

// The error begins with the path and says what is wrong with it: missing, a folder, not readable,
// longer than `bytes_max`.
Result<std::string> read_text_file(const std::string& path, size_t bytes_max);

}  // namespace fairlead::app
