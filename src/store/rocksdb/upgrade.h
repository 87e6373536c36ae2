// The form of the data folder, and what brings an older one to it.
//
//   1  the first
//   2  ended jobs have marks, stand by tenant and topic too, and are counted
#pragma once

#include <cstddef>
#include <string_view>

#include "base/result.h"

namespace fairlead::store {

class Database;

// In Family::kMeta.
inline constexpr std::string_view kFormatKey = "format";
inline constexpr int kFormat = 2;
inline constexpr size_t kFamiliesOfFormat1 = 14;

// The stamp is written last: one that was cut short is done again.
Result<void> upgrade(Database& database, int format);

}  // namespace fairlead::store
