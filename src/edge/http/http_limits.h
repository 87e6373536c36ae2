// The limits of the HTTP edge, each with its reason.
#pragma once

#include <cstddef>
#include <cstdint>

#include "base/limits.h"

namespace fairlead::limits {

// --- Connections -----------------------------------------------------------------------------
// Further ones are told so and closed.
inline constexpr size_t kHttpConnectionsMax = 4096;
inline constexpr size_t kHttpHeaderBytesMax = 64 << 10;
inline constexpr size_t kHttpTargetBytesMax = 8 << 10;
inline constexpr size_t kHttpBodyBytesMax = 2 << 20;
inline constexpr size_t kHttpQueryParametersMax = 64;
// Calls handed to the loop and not answered; further ones are told to come back.
inline constexpr size_t kHttpCallsMax = 16'384;
inline constexpr Duration kHttpHeaderTimeout = 5s;
inline constexpr Duration kHttpReadTimeout = 15s;
inline constexpr Duration kHttpWriteTimeout = 30s;
inline constexpr Duration kHttpIdleTimeout = 120s;
// A call that the loop has not answered by then is answered with 503; it goes on.
inline constexpr Duration kHttpCallTimeout = 30s;
inline constexpr Duration kHttpHealthTimeout = 2s;
inline constexpr Duration kHttpSweepEvery = 1s;

// --- Rates -----------------------------------------------------------------------------------
inline constexpr double kHttpRatePerSecond = 500;
inline constexpr double kHttpRateBurst = 1000;
// Of callers without a key, by address.
inline constexpr double kHttpPublicRatePerSecond = 20;
inline constexpr double kHttpPublicRateBurst = 40;
// Callers whose rate is remembered; when there are more, the quietest are forgotten.
inline constexpr size_t kHttpRateBucketsMax = 10'000;
inline constexpr size_t kApiKeysMax = 10'000;
inline constexpr size_t kApiKeyBytesMax = 512;

// --- What a call may carry -------------------------------------------------------------------
inline constexpr size_t kJsonDepthMax = 64;
inline constexpr size_t kPromptCharactersMax = 50'000;
inline constexpr size_t kSubmitLabelsMax = 50;
inline constexpr size_t kSubmitLabelNameBytesMax = 256;
inline constexpr size_t kSubmitLabelValueBytesMax = 4096;
inline constexpr size_t kSubmitTagsMax = 50;
inline constexpr size_t kSubmitTextBytesMax = 1024;
inline constexpr size_t kListPageMax = 500;
// Records that one page of a filtered list may look at; the page may be short and yet not the last.
inline constexpr size_t kListVisitsMax = 20'000;
// Jobs or dead letters that one bulk call acts on.
inline constexpr size_t kBulkMax = 1000;
// A bulk call that staggers must end before its connection is given up.
inline constexpr Duration kBulkStaggerTotalMax = 20s;
// Live jobs looked at for the numbers of all queues.
inline constexpr size_t kQueueVisitsMax = 20'000;
// Topics named to a caller who asked for one that is not there.
inline constexpr size_t kTopicsNamedMax = 20;
// A stored payload that is shown in an answer; a larger one is fetched from the payload listener.
inline constexpr size_t kPayloadShownBytesMax = 4 << 20;
inline constexpr size_t kPoolNameBytesMax = 63;
inline constexpr size_t kPoolNameBytesMin = 3;
inline constexpr int64_t kDrainSecondsDefault = 300;
inline constexpr int64_t kDrainSecondsMax = 3600;
// Pools and topics made by calls.
inline constexpr size_t kPoolBookEntriesMax = 10'000;

// --- Event streams ---------------------------------------------------------------------------
inline constexpr size_t kStreamListenersMax = 1000;
// What a reader may be behind before it is dropped.
inline constexpr size_t kStreamFramesMax = 256;
inline constexpr size_t kStreamBytesMax = 1 << 20;
// What a reader who returns may have missed.
inline constexpr size_t kStreamReplayEvents = 4096;
inline constexpr size_t kStreamReplayBytes = 8 << 20;
// Events are gathered for so long after the last reader left.
inline constexpr Duration kStreamReplayFor = 5min;
inline constexpr Duration kStreamPingEvery = 30s;
inline constexpr Duration kStreamRetry = 2s;

static_assert(kHttpHeaderTimeout < kHttpReadTimeout);
static_assert(kBulkStaggerTotalMax < kHttpCallTimeout, "a staggered call is answered in time");
static_assert(kHttpSweepEvery < kHttpHealthTimeout);
static_assert(kListPageMax <= kScanMax);

}  // namespace fairlead::limits
