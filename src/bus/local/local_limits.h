// Bounds of the local bus.
#pragma once

#include <cstddef>
#include <cstdint>

#include "base/limits.h"

namespace fairlead::bus {

// Payload bytes that may wait for one group, beside limits::kSubscriptionQueueMax messages.
inline constexpr size_t kGroupBytesMax = 256 << 20;
// Ids remembered for one durable subject: above 270 a second the window is shorter than
// limits::kDuplicateWindow, and it stays in the processor's cache. Handlers can tell a repeat in
// any case.
inline constexpr size_t kDuplicateIdsMax = 32'768;
// Sequences reserved from the store at once; the next are asked for when half are used.
inline constexpr uint64_t kSequenceBlock = 1 << 20;

static_assert(kGroupBytesMax > limits::kPacketBytesMax, "one message always fits");

}  // namespace fairlead::bus
