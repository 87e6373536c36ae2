// The limits of the HTTP edge, each with its reason.
#pragma once

#include <cstddef>
#include <cstdint>

#include "base/limits.h"

namespace fairlead::limits {

// --- Connections -----------------------------------------------------------------------------
// Of one listener; further ones are told so and closed.
inline constexpr size_t kHttpConnectionsMax = 4096;
inline constexpr size_t kHttpHeaderBytesMax = 64 << 10;
inline constexpr size_t kHttpTargetBytesMax = 8 << 10;
inline constexpr size_t kHttpBodyBytesMax = 2 << 20;
// Of a request that is refused by its head, the body that is read and thrown away, so that the
// connection can be kept; with a larger one it ends. As much as a connection reads at once.
inline constexpr size_t kHttpSkippedBytesMax = 16 << 10;
inline constexpr size_t kHttpQueryParametersMax = 64;
// Calls handed to the loop and not answered; further ones are told to come back.
inline constexpr size_t kHttpCallsMax = 16'384;
inline constexpr Duration kHttpHeaderTimeout = 5s;
inline constexpr Duration kHttpReadTimeout = 15s;
inline constexpr Duration kHttpWriteTimeout = 30s;
inline constexpr Duration kHttpIdleTimeout = 120s;
// Bytes of answers that are made and not yet sent, of all connections together: sixteen of the
// largest, each of which its caller may take kHttpWriteTimeout to read. Beyond them larger answers
// than the second are refused; if every connection of a listener has one of those, it is as much
// again.
inline constexpr size_t kHttpAnswerBytesOfAllMax = 256 << 20;
inline constexpr size_t kHttpSmallAnswerBytes = 64 << 10;
// A call that the loop has not answered by then is answered with 503; it goes on.
inline constexpr Duration kHttpCallTimeout = 30s;
inline constexpr Duration kHttpHealthTimeout = 2s;
// A job that was handed in and whose admission was put off is waited for: several tries of it.
inline constexpr Duration kAdmissionWait = 5s;
inline constexpr Duration kAdmissionPollEvery = 100ms;
inline constexpr Duration kHttpSweepEvery = 1s;

// --- Rates -----------------------------------------------------------------------------------
inline constexpr double kHttpRatePerSecond = 500;
inline constexpr double kHttpRateBurst = 1000;
// Of callers without a key, by address.
inline constexpr double kHttpPublicRatePerSecond = 20;
inline constexpr double kHttpPublicRateBurst = 40;
// Failed requests that are told to the log; of others it is told how many there were.
inline constexpr double kHttpProblemsLoggedPerSecond = 10;
inline constexpr double kHttpProblemsLogged = 50;
// Callers whose rate is remembered; when there are more, the quietest are forgotten.
inline constexpr size_t kHttpRateBucketsMax = 10'000;
inline constexpr size_t kApiKeysMax = 10'000;
inline constexpr size_t kApiKeyBytesMax = 512;

// --- What a call may carry -------------------------------------------------------------------
inline constexpr size_t kJsonDepthMax = 64;
// Values in a body, but for the context of a job, which is not built: more than any call needs, and
// a few milliseconds of the one thread that reads.
inline constexpr size_t kJsonValuesMax = 20'000;
inline constexpr size_t kPromptCharactersMax = 50'000;
inline constexpr size_t kSubmitLabelsMax = 50;
inline constexpr size_t kSubmitTagsMax = 50;
inline constexpr size_t kSubmitTextBytesMax = 1024;
inline constexpr size_t kListPageMax = 500;
// Jobs or dead letters that one page of a list may look at; it may be short and yet not the last.
inline constexpr size_t kListVisitsMax = 20'000;
// Jobs or dead letters that one bulk call acts on.
inline constexpr size_t kBulkMax = 1000;
// A bulk call that staggers must end before its connection is given up.
inline constexpr Duration kBulkStaggerTotalMax = 20s;
// Rates are those of the last minute, as samples of the counters tell.
inline constexpr Duration kRateWindow = 60s;
inline constexpr Duration kRateSampleEvery = 5s;
// The numbers of the server are counted at most this often.
inline constexpr Duration kStatusFor = 1s;
// Topics named to a caller who asked for one that is not there.
inline constexpr size_t kTopicsNamedMax = 20;
// A stored payload that is shown within its job; a larger one is fetched as the result it is, or by
// the pointer to it.
inline constexpr size_t kPayloadShownBytesMax = 256 << 10;
// And one that is asked for by its pointer; a larger one is fetched from the payload listener.
inline constexpr size_t kMemoryShownBytesMax = 4 << 20;
// A result that is sent as it is: twice what a worker lets a program write if it is not told. It is
// in memory until the caller has read it.
inline constexpr size_t kResultBytesMax = 16 << 20;
inline constexpr size_t kPoolNameBytesMax = 63;
inline constexpr size_t kPoolNameBytesMin = 3;
inline constexpr int64_t kDrainSecondsDefault = 300;
inline constexpr int64_t kDrainSecondsMax = 3600;
// Pools and topics made by calls.
inline constexpr size_t kPoolBookEntriesMax = 10'000;

// --- Event streams ---------------------------------------------------------------------------
inline constexpr size_t kStreamListenersMax = 1000;
// Events that are remembered for all readers together: how far one may be behind, and what one who
// returns may have missed. Half a minute and more at 500 jobs a second.
inline constexpr size_t kStreamReplayBytes = 64 << 20;
// And those that are worth nothing later.
inline constexpr size_t kStreamPassingBytes = 4 << 20;
// What one reader is given at once; it has Timeouts::stream_write for it.
inline constexpr size_t kStreamChunkBytes = 64 << 10;
// Events on their way from the loop to the thread of the readers; further ones are lost to them.
inline constexpr size_t kStreamTransitBytes = 32 << 20;
// Events are gathered for so long after the last reader left.
inline constexpr Duration kStreamReplayFor = 5min;
inline constexpr Duration kStreamPingEvery = 30s;
inline constexpr Duration kStreamRetry = 2s;

static_assert(kHttpHeaderTimeout < kHttpReadTimeout);
static_assert(kResultBytesMax <= kHttpAnswerBytesOfAllMax, "the largest answer can be sent");
static_assert(kHttpConnectionsMax * kHttpSmallAnswerBytes <= kHttpAnswerBytesOfAllMax);
static_assert(kAdmissionWait > 3 * kRetryStore && kAdmissionWait < kHttpCallTimeout);
static_assert(kBulkStaggerTotalMax < kHttpCallTimeout, "a staggered call is answered in time");
static_assert(kHttpSweepEvery < kHttpHealthTimeout);
static_assert(kListPageMax <= kScanMax);
static_assert(kPayloadShownBytesMax <= kMemoryShownBytesMax);
static_assert(kBulkMax < kJsonValuesMax);

}  // namespace fairlead::limits
