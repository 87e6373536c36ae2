// The form of the data folder, and what brings an older one to it.
//
//   1  the first
//   2  ended jobs have marks, stand by tenant and topic too, and are counted
//   3  they stand by state before their end time, and by worker too
#pragma once

#include <cstddef>
#include <string_view>

#include "base/result.h"

namespace fairlead::store {

class Database;

// In Family::kMeta.
inline constexpr std::string_view kFormatKey = "format";
inline constexpr int kFormat = 3;
inline constexpr size_t kFamiliesOfFormat1 = 14;

// Makes the indexes and counts of ended jobs anew from their records, whatever the older form had.
// The stamp is written last: an upgrade that was cut short is done again.
Result<void> upgrade(Database& database);

}  // namespace fairlead::store
