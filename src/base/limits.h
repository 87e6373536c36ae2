// Every limit and every fixed delay of Fairlead, with its reason. Code elsewhere names these; it
// does not repeat the numbers.
#pragma once

#include <cstddef>
#include <cstdint>

#include "base/time.h"

namespace fairlead::limits {

using namespace std::chrono_literals;

// --- What a request may carry (CAP's own bounds) ---------------------------------------------
inline constexpr size_t kLabelsMax = 1000;
inline constexpr size_t kRiskTagsMax = 1000;
inline constexpr size_t kRequiresMax = 1000;
inline constexpr int64_t kBudgetTokensMax = 10'000'000'000;

// --- What we accept from outside ---------------------------------------------------------------
// A packet larger than this is refused before it is parsed: NATS' own default payload limit.
inline constexpr size_t kPacketBytesMax = 1 << 20;
// Job ids name keys and message ids.
inline constexpr size_t kJobIdBytesMax = 256;
// Worker ids form a subject token.
inline constexpr size_t kWorkerIdBytesMax = 128;
inline constexpr size_t kTopicBytesMax = 256;
inline constexpr size_t kTenantBytesMax = 256;
inline constexpr size_t kIdempotencyKeyBytesMax = 256;
// Texts from workers that are kept in the record (error messages, reasons) are cut to this.
inline constexpr size_t kReasonBytesMax = 2048;
// Workers a replica keeps in its registry; further ones are refused and counted.
inline constexpr size_t kWorkersMax = 200'000;
inline constexpr size_t kWorkerLabelsMax = 64;
// Routes that are remembered, and the bytes of what one job says that leads to it: a few MB in all.
inline constexpr size_t kRoutesRememberedMax = 1024;
inline constexpr size_t kRouteKeyBytesMax = 1024;

// --- A job's life ------------------------------------------------------------------------------
// Attempts before a waiting job is given up (about 25 minutes of backoff).
inline constexpr uint32_t kSchedulingAttemptsMax = 50;
// Picks before a stale registry counts as having no workers.
inline constexpr int kStalePicksMax = 3;
// Workers tried for one dispatch when the store says that the picked one is full.
inline constexpr int kFullWorkerPicksMax = 8;
// Times a handler re-reads a record that changed under it before it gives the message back.
inline constexpr int kConflictRetriesMax = 16;
// History events kept in one record; the oldest in the middle are dropped, the first stays.
inline constexpr size_t kHistoryEventsMax = 128;
// Epochs whose publish ended unknown, remembered so that their results still count.
inline constexpr size_t kOpenEpochsMax = 8;
inline constexpr Duration kBackoffBase = 1s;
inline constexpr Duration kBackoffMax = 30s;
inline constexpr Duration kBackoffJitterMax = 500ms;
inline constexpr int kBackoffExponentMax = 10;

// --- Leases ------------------------------------------------------------------------------------
inline constexpr Duration kJobLeaseTtl = 60s;
inline constexpr Duration kJobLeaseRenewEvery = kJobLeaseTtl / 3;
inline constexpr int kLeaseRenewalFailuresMax = 3;
inline constexpr Duration kLeasePollEvery = 25ms;
inline constexpr Duration kLeaseWaitMax = 2s;
// A replica's sign of life; the leases of one that has not renewed it are taken over.
inline constexpr Duration kAliveTtl = 4s;
inline constexpr Duration kAliveRenewEvery = 1s;
// A holder does not publish unless at least this much of its lease is left.
inline constexpr Duration kLeaseSafetyMargin = 5s;
// Nor unless its last sign of life is this much younger than its death.
inline constexpr Duration kAliveSafetyMargin = 500ms;

// --- Delays --------------------------------------------------------------------------------------
inline constexpr Duration kRetryBusy = 500ms;
inline constexpr Duration kRetryStore = 1s;
inline constexpr Duration kRetrySafety = 5s;
// A waiter claimed by a commit is due again after this, should its claimer die.
inline constexpr Duration kClaimTtl = 5s;
// Sweep of due times, unpublished dispatches, deadlines and waiting classes.
inline constexpr Duration kSweepEvery = 250ms;
inline constexpr size_t kSweepBatch = 200;
// A dispatch that is not known to be published after this is looked at by a sweep.
inline constexpr Duration kUnpublishedAfter = 2s;
// A message that its commit's owner has not published after this is published by a sweep.
inline constexpr Duration kOrphanAfter = 10s;
inline constexpr Duration kOrphanSweepEvery = 5s;
// What has outlived its time goes in batches, with pauses in which commits pass: 20,000 jobs a
// second and more. Then it is looked for again after this.
inline constexpr size_t kRetireBatch = 250;
inline constexpr Duration kRetirePause = 5ms;
inline constexpr Duration kRetireEvery = 60s;
// Jobs held for a worker that reports fewer are looked up in the store this often.
inline constexpr Duration kConfirmHeldEvery = 2s;

// --- Workers -------------------------------------------------------------------------------------
inline constexpr Duration kWorkerTtl = 30s;
inline constexpr double kOverloadUtilization = 0.9;
inline constexpr double kOverloadPercent = 90.0;
// Heartbeats in a row that must report fewer jobs than held before the rest count as ghosts.
inline constexpr int kGhostHeartbeats = 3;
// And the least age of a dispatch that can be one.
inline constexpr Duration kGhostAgeMin = 5s;

// --- Store ---------------------------------------------------------------------------------------
// Classes a commit may name to claim waiters from.
inline constexpr size_t kClaimClassesMax = 16;
inline constexpr size_t kDlqEntriesMax = 10'000;
inline constexpr Duration kDlqEntryTtl = 24h * 30;
inline constexpr Duration kEndedJobTtl = 24h * 7;
inline constexpr Duration kIdempotencyTtl = 24h * 90;
inline constexpr Duration kBlobTtlDefault = 24h;
inline constexpr size_t kBlobBytesMax = 64 << 20;
inline constexpr size_t kScanMax = 1000;
// Changes queued for the committer before `apply` pushes back.
inline constexpr size_t kCommitQueueMax = 65'536;
// Their bytes, likewise; a single larger change still passes.
inline constexpr size_t kCommitQueueBytesMax = 64 << 20;
// Changes with which an idle committer begins before the loop's turn is over, so that both work.
inline constexpr size_t kHandOverEarly = 64;
// RocksDB's own memory: what is not yet in files, and blocks of files read lately.
inline constexpr size_t kMemtableBytesMax = 64 << 20;
inline constexpr size_t kBlockCacheBytes = 32 << 20;
// The log is cut when it reaches this: it is read twice at every start.
inline constexpr size_t kLogBytesMax = 128 << 20;
// Decoded records (with the requests of new ones) kept at hand; those not yet durable beyond it.
inline constexpr size_t kRecordCacheBytesMax = 8 << 20;
inline constexpr size_t kEndedCacheBytesMax = 512 << 10;
// Ended jobs looked through for one page; a page may be short and yet not the last.
inline constexpr size_t kScanVisitsMax = 20'000;
// Sequences set aside with one put.
inline constexpr uint64_t kSequenceBlock = 65'536;
// How often the committer looks at the free space.
inline constexpr Duration kFreeSpaceCheckEvery = 100ms;
// Free bytes below which new jobs are refused while running ones may still end.
inline constexpr uint64_t kDiskReserveBytes = 256ull << 20;

// --- Bus -----------------------------------------------------------------------------------------
inline constexpr size_t kSubscriptionQueueMax = 65'536;
inline constexpr size_t kHandlersInFlightMax = 2048;
inline constexpr uint32_t kDeliveriesMax = 100;
inline constexpr Duration kPoisonRetry = 5s;
inline constexpr int kPoisonDeliveriesMax = 3;
inline constexpr Duration kDuplicateWindow = 2min;
inline constexpr size_t kSubjectBytesMax = 512;
// Payload bytes that may wait for one group of the local bus, beside kSubscriptionQueueMax
// messages.
inline constexpr size_t kGroupBytesMax = 256 << 20;
// Ids that the local bus remembers for one durable subject: above 270 a second the window is
// shorter than kDuplicateWindow, and it stays in the processor's cache. Handlers can tell a repeat
// in any case.
inline constexpr size_t kDuplicateIdsMax = 32'768;
// Sequences that the local bus reserves from its store at once; the next are asked for when half
// are used.
inline constexpr uint64_t kBusSequenceBlock = 1 << 20;

// --- Edges: what clients from outside may do -----------------------------------------------------
// Connections of one listener; each costs about two kilobytes while it is idle.
inline constexpr size_t kConnectionsMax = 20'000;
// Bytes read from a socket at once, into a buffer that all connections of a listener share.
inline constexpr size_t kReadBytes = 64 << 10;
// Reads of one connection before the others have their turn.
inline constexpr int kReadsInARow = 4;
// Clients that do not read what is sent to them are cut off.
inline constexpr size_t kUnsentBytesMax = 128 << 20;
// When all together have this much unsent, those with more than the second are cut off.
inline constexpr size_t kUnsentBytesOfAllMax = 512 << 20;
inline constexpr size_t kUnsentBytesWhenFull = 16 << 10;
// What a client, and all of a listener, may have handed over that is not yet done; then reading
// pauses.
inline constexpr size_t kUndoneBytesMax = 8 << 20;
inline constexpr size_t kUndoneBytesOfAllMax = 256 << 20;
// Operations with few bytes cost memory too: each counts as this much more.
inline constexpr size_t kOperationBytes = 256;
inline constexpr Duration kEdgeTickEvery = 1s;
// From connecting to a finished TLS handshake, and to having shown credentials.
inline constexpr Duration kHandshakeWait = 5s;
inline constexpr Duration kAuthenticationWait = 5s;
// A connection that is being closed may still take what was sent to it for this long.
inline constexpr Duration kLingerWait = 2s;
// Accepting pauses this long when the process has no more descriptors.
inline constexpr Duration kAcceptPause = 100ms;
inline constexpr int kAcceptBacklog = 1024;
// NATS' own bounds: of a line, and of a header block, which counts into the payload.
inline constexpr size_t kControlLineBytesMax = 4096;
inline constexpr size_t kNatsHeaderBytesMax = 64 << 10;
// Names of subscriptions are chosen by clients; libraries use small numbers.
inline constexpr size_t kSubscriptionNameBytesMax = 64;
inline constexpr size_t kSubscriptionsMax = 10'000;
inline constexpr Duration kPingEvery = 2min;
inline constexpr int kPingsUnansweredMax = 2;
// Tries to hand over a message on a durable subject whose sender does not wait for an answer.
inline constexpr int kUnaskedPublishesMax = 20;
// Payload keys and commands.
inline constexpr size_t kPayloadKeyBytesMax = 1024;
inline constexpr size_t kCommandArgumentsMax = 1024;
inline constexpr size_t kInlineCommandBytesMax = 16 << 10;
// Commands of one connection under way; then reading pauses.
inline constexpr size_t kPipelineMax = 1024;

// --- The worker that runs any program ------------------------------------------------------------
// Between heartbeats: six are missed before a worker counts as lost.
inline constexpr Duration kHeartbeatEvery = 5s;
// A program that was told to stop is killed after this, unless --grace says otherwise.
inline constexpr Duration kStopGrace = 10s;
// What a program leaves running may hold its pipes open this long after its end.
inline constexpr Duration kPipeLinger = 1s;
// Of standard output, unless --output-max says otherwise; more ends the job.
inline constexpr size_t kOutputBytesDefault = 8 << 20;
// Of standard error, the end is kept for the job's error message.
inline constexpr size_t kErrorTailBytes = kReasonBytesMax;
inline constexpr size_t kProgressLineBytesMax = 1024;
// Lines of one job that come faster than this are not all told.
inline constexpr Duration kProgressEvery = 100ms;
inline constexpr int kParallelMax = 1024;
// Jobs that wait in the worker when it is given more than it can run; the rest are given back.
inline constexpr size_t kWorkerQueueMax = 256;
// Ended jobs whose outcome a worker remembers, so that none is run again.
inline constexpr size_t kRunsRememberedMax = 10'000;
// Results that a server took without saying so are sent this often, then believed.
inline constexpr int kUnansweredResultsMax = 5;
inline constexpr Duration kResultAnswerWait = 5s;
inline constexpr Duration kReconnectFirst = 100ms;
inline constexpr Duration kReconnectMax = 5s;
inline constexpr Duration kConnectWait = 5s;
// A connection on which nothing was heard for this long is asked, and after as much again left.
inline constexpr Duration kClientPingEvery = 10s;
// What a client may have unsent; more and the connection is given up.
inline constexpr size_t kClientUnsentBytesMax = 16 << 20;
inline constexpr Duration kPayloadWait = 30s;

// --- Metrics -------------------------------------------------------------------------------------
// Distinct label values of one metric; what comes after them is counted as "other".
inline constexpr size_t kMetricLabelValuesMax = 200;

static_assert(kJobLeaseRenewEvery * kLeaseRenewalFailuresMax <= kJobLeaseTtl,
              "a lease must outlive its renewals' failures");
static_assert(kLeaseSafetyMargin < kJobLeaseTtl - 2 * kJobLeaseRenewEvery,
              "a healthy holder may always publish");
static_assert(kAliveRenewEvery * 3 < kAliveTtl, "two lost signs of life are not death");
static_assert(kAliveRenewEvery + kAliveSafetyMargin < kAliveTtl, "a healthy replica may publish");
static_assert(kClaimTtl > kSweepEvery, "a claim is not swept before its claimer can act");
static_assert(kRetireBatch * (1s / kRetirePause) > 40'000, "retention keeps up with what ends");
static_assert(kBackoffBase < kBackoffMax);
static_assert(kHeartbeatEvery * 3 < kWorkerTtl, "two lost heartbeats are not a lost worker");
static_assert(kOutputBytesDefault <= kBlobBytesMax, "what a program may say can be stored");
static_assert(kClientUnsentBytesMax > 2 * kPacketBytesMax, "one message always fits");
static_assert(kGroupBytesMax > kPacketBytesMax, "one message always fits");
static_assert(kUndoneBytesMax > kPacketBytesMax && kUnsentBytesMax > 2 * kPacketBytesMax,
              "one message always passes an edge");
static_assert(kUnsentBytesMax >= 2 * kBlobBytesMax && kUndoneBytesOfAllMax > 2 * kBlobBytesMax,
              "one payload always passes an edge");
static_assert(kNatsHeaderBytesMax < kPacketBytesMax && kSubjectBytesMax * 3 < kControlLineBytesMax);
static_assert(kDiskReserveBytes > kMemtableBytesMax + kLogBytesMax / 2,
              "what is in memory can still be written when new work is refused");

}  // namespace fairlead::limits
