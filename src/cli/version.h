#pragma once

namespace fairlead::cli {

inline constexpr const char* kVersion = "0.1.0";

}  // namespace fairlead::cli
