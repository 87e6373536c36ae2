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
// What a dispatch adds to its request: the envelope, its identity and the policy's constraints.
inline constexpr size_t kDispatchBytesMax = 64 << 10;
inline constexpr size_t kRequestBytesMax = kPacketBytesMax - kDispatchBytesMax;
// Of it, what a job's effective configuration may have.
inline constexpr size_t kEffectiveConfigBytesMax = 32 << 10;
// Job ids name keys and message ids.
inline constexpr size_t kJobIdBytesMax = 256;
// Worker ids form a subject token.
inline constexpr size_t kWorkerIdBytesMax = 128;
inline constexpr size_t kTopicBytesMax = 256;
inline constexpr size_t kTenantBytesMax = 256;
inline constexpr size_t kIdempotencyKeyBytesMax = 256;
inline constexpr size_t kTraceIdBytesMax = 256;
// Principals, teams, workflow ids and result pointers: the record keeps them as they come.
inline constexpr size_t kReferenceBytesMax = 2048;
// Of one label, and of all together.
inline constexpr size_t kLabelNameBytesMax = 256;
inline constexpr size_t kLabelValueBytesMax = 4096;
inline constexpr size_t kLabelsBytesMax = 64 << 10;
// Of the labels that constrain placement: they name the class in which a job waits, which is kept
// in many places.
inline constexpr size_t kPlacementBytesMax = 1 << 10;
// Texts from workers that are kept in the record (error messages, reasons) are cut to this.
inline constexpr size_t kReasonBytesMax = 2048;
// Of what policy said of a job before its last word, the latest.
inline constexpr size_t kPastDecisionsMax = 16;
// Prompt and payload are labels too, for policy to look at, up to this each.
inline constexpr size_t kContentLabelBytesMax = 64 << 10;
// Workers a replica keeps in its registry; further ones are refused and counted.
inline constexpr size_t kWorkersMax = 200'000;
inline constexpr size_t kWorkerLabelsMax = 64;
// Topics that a worker may confine itself to.
inline constexpr size_t kReadyTopicsMax = 64;
// Workers that have introduced themselves and were not heard yet: their heartbeat follows at once.
inline constexpr size_t kIntroducedMax = 1024;
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
// A job whose worker cannot be reached tries another at once while it has made no more attempts
// than this; each try makes two.
inline constexpr uint32_t kAtOnceAttemptsMax = 8;
// Times a handler re-reads a record that changed under it before it gives the message back.
inline constexpr int kConflictRetriesMax = 16;
// History events kept in one record; the oldest in the middle are dropped, the first stays.
inline constexpr size_t kHistoryEventsMax = 128;
// Epochs whose publish ended unknown, remembered so that their results still count.
inline constexpr size_t kOpenEpochsMax = 8;
// How often a dispatch that its worker may have is made again for it while the bus refuses it.
// Fewer than the above, which must keep the epoch that the worker may run.
inline constexpr int kRefusedRepeatsMax = 3;
inline constexpr Duration kBackoffBase = 1s;
inline constexpr Duration kBackoffMax = 30s;
inline constexpr Duration kBackoffJitterMax = 500ms;
inline constexpr int kBackoffExponentMax = 10;
// A wall clock that moved by more than this against the monotonic one was set, or the machine
// slept.
inline constexpr Duration kClockStepMin = 5s;
// A wall clock that is this far from the store's is told of; further, and nothing is done by it.
inline constexpr Duration kClockOffsetTold = 1s;
inline constexpr Duration kClockOffsetMax = 5s;

// --- Leases ------------------------------------------------------------------------------------
inline constexpr Duration kJobLeaseTtl = 60s;
inline constexpr Duration kJobLeaseRenewEvery = kJobLeaseTtl / 3;
inline constexpr int kLeaseRenewalFailuresMax = 3;
// Between failing renewals: the third comes while the lease still lives.
inline constexpr Duration kLeaseRenewRetry = 12s;
// A held lease is asked for again after this, then after twice as long, up to the second.
inline constexpr Duration kLeasePollEvery = 25ms;
inline constexpr Duration kLeasePollEveryMax = 200ms;
// A release that failed is tried again after this.
inline constexpr Duration kLeaseReleaseRetry = 1s;
inline constexpr Duration kLeaseWaitMax = 2s;
// A replica's sign of life; the leases of one that has not renewed it are taken over.
inline constexpr Duration kAliveTtl = 4s;
inline constexpr Duration kAliveRenewEvery = 1s;
// Leases of what one replica does for all: as long as the Go services' (twice their scan interval),
// and how often another tries to take it. With the sign of life, a dead one is followed within 5 s.
inline constexpr Duration kLeaderTtl = 60s;
inline constexpr Duration kLeaderTryEvery = 1s;
// A holder does not publish unless at least this much of its lease is left.
inline constexpr Duration kLeaseSafetyMargin = 5s;
// Nor unless its last sign of life is this much younger than its death.
inline constexpr Duration kAliveSafetyMargin = 500ms;

// --- Delays --------------------------------------------------------------------------------------
inline constexpr Duration kRetryBusy = 500ms;
inline constexpr Duration kRetryStore = 1s;
inline constexpr Duration kRetrySafety = 5s;
// A job that found no bus.
inline constexpr Duration kRetryBus = 2s;
// A job whose handling broke off in a way that nobody foresaw.
inline constexpr Duration kRetryPanic = 1s;
// A dead letter that the bus did not take is published once more after this.
inline constexpr Duration kRetryDeadLetter = 500ms;
// Jobs that are out do not time out until their bus has been there for this long: results that lie
// in it come first.
inline constexpr Duration kTimeoutsAfterBus = 10s;
// Documents of shared configuration that are kept at hand, and for how long.
inline constexpr size_t kConfigDocumentsKept = 256;
inline constexpr Duration kConfigDocumentTtl = 1s;
// A dispatch that its worker may have and that cannot be made again is looked at again after this.
inline constexpr Duration kRetryOut = 5s;
// Jobs about which policy elsewhere is asked at the same time, each with its request in memory; the
// others wait in the store.
inline constexpr size_t kAskPolicyMax = 256;
// While pools change, this often more of those who wait are tried in their new ones.
inline constexpr Duration kRerouteEvery = 5ms;
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
// How often the log tells which workers there are.
inline constexpr Duration kTellWorkersEvery = 60s;
// One that no bus has taken for this long is given up: what it tells is in the store.
inline constexpr Duration kOutboxAgeMax = 24h;
// What has outlived its time goes in batches, with pauses in which commits pass: 20,000 jobs a
// second and more. Then it is looked for again after this.
inline constexpr size_t kRetireBatch = 250;
inline constexpr Duration kRetirePause = 5ms;
inline constexpr Duration kRetireEvery = 60s;
// Where other services write too it goes on sooner: what they left behind is found on the way.
inline constexpr Duration kRetireSharedEvery = 5s;
// Jobs held for a worker that reports fewer are looked up in the store this often.
inline constexpr Duration kConfirmHeldEvery = 2s;

// --- Workers -------------------------------------------------------------------------------------
inline constexpr Duration kWorkerTtl = 30s;
// A replica notes this often that it listens; when it has not for the second, it was stopped, and
// does not know what it missed.
inline constexpr Duration kNoteEvery = 500ms;
inline constexpr Duration kDeafAfter = 5s;
inline constexpr double kOverloadUtilization = 0.9;
inline constexpr double kOverloadPercent = 90.0;
// Heartbeats in a row that must report fewer jobs than held before the rest count as ghosts.
inline constexpr int kGhostHeartbeats = 3;
// And the least age of a dispatch that can be one.
inline constexpr Duration kGhostAgeMin = 5s;

// --- Store ---------------------------------------------------------------------------------------
// Classes a commit may name to claim waiters from.
inline constexpr size_t kClaimClassesMax = 16;
// Waiting classes that share a label with a worker and are looked at for a slot of it.
inline constexpr size_t kFittingVisitsMax = 256;
inline constexpr size_t kDlqEntriesMax = 10'000;
inline constexpr Duration kDlqEntryTtl = 24h * 30;
inline constexpr Duration kEndedJobTtl = 24h * 7;
inline constexpr Duration kIdempotencyTtl = 24h * 90;
inline constexpr size_t kBlobBytesMax = 64 << 20;
inline constexpr size_t kScanMax = 1000;
// Changes queued for the committer before `apply` pushes back.
inline constexpr size_t kCommitQueueMax = 65'536;
// Their bytes, likewise; a single larger change still passes.
inline constexpr size_t kCommitQueueBytesMax = 64 << 20;
// How long a change that nobody waits for may wait for another to go to the disk with: two or three
// times what a sync takes. A crash in that time leaves the change before it.
inline constexpr Duration kCommitPutOffMax = 2ms;
// Memory that is used again at once (base/recycled.h): the largest piece, and how much of one size
// a thread keeps.
inline constexpr size_t kRecycledPieceMax = 4096;
inline constexpr size_t kRecycledBytesMax = 256 << 10;
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
// Jobs looked through for one page, by their entries in indexes; a page may be short and yet not
// the last.
inline constexpr size_t kScanVisitsMax = 20'000;
// Live jobs of one trace that are put in order for a page of it.
inline constexpr size_t kTraceLiveMax = 10'000;
// Pairs of a tenant and a topic whose ended jobs are merged for one page; where there are more, the
// ended jobs of all are looked through.
inline constexpr size_t kScanQueuesMax = 64;
// Sequences set aside with one put.
inline constexpr uint64_t kSequenceBlock = 65'536;
// How often the committer looks at the free space.
inline constexpr Duration kFreeSpaceCheckEvery = 100ms;
// Free bytes below which new jobs are refused while running ones may still end.
inline constexpr uint64_t kDiskReserveBytes = 256ull << 20;

// --- Store in Redis ------------------------------------------------------------------------------
// The Go services' own timeouts of a dial and of a read.
inline constexpr Duration kRedisConnectWait = 5s;
inline constexpr Duration kRedisAnswerWait = 3s;
// A replica without its store can do nothing: it looks for it often.
inline constexpr Duration kRedisReconnectMax = 1s;
// A store that is closed waits this long for the answers to what it was asked.
inline constexpr Duration kRedisCloseWait = 2s;
// Commands of many callers that go out in one write.
inline constexpr size_t kRedisWriteBytes = 256 << 10;
// Jobs that the Go services list as recent, of all and of one worker.
inline constexpr size_t kRedisRecentMax = 1000;
// Ended jobs are retired by a sweep; this much later Redis forgets them by itself.
inline constexpr Duration kRedisEndedGrace = 1h;
// A replica that has shown life is known to be dead for this long: no lease lives longer.
inline constexpr Duration kRedisLivedTtl = 1h;
// How often the counts that are told without asking Redis are read from it.
inline constexpr Duration kRedisViewEvery = 1s;
// A live job that a Go service moved is looked at when it has stood still for this long, and one
// that runs for this long: those services' own timeouts.
inline constexpr Duration kRedisAdoptedWait = 5min;
inline constexpr Duration kRedisAdoptedRunningWait = 15min;
// How long it shows that a message of the bus is being handled, how many workers there are, and
// that a breaker nobody asks any more is half open.
inline constexpr Duration kRedisInflightTtl = 2min;
inline constexpr Duration kRedisWorkersTtl = 2min;
inline constexpr Duration kRedisBreakerTtl = 1h;
// Jobs that one script looks at of each set: it keeps the others waiting.
inline constexpr size_t kRedisVisitsMax = 1000;
// Waiting classes whose counts are read at once; the others with the next looks.
inline constexpr size_t kRedisClassesRead = 1000;
// Things that cannot be read, of each of which it is said once.
inline constexpr size_t kRedisUnreadableRemembered = 1000;
// Nodes of one Sentinel address.
inline constexpr size_t kRedisSentinelsMax = 16;

// --- Bus -----------------------------------------------------------------------------------------
inline constexpr size_t kSubscriptionQueueMax = 65'536;
inline constexpr size_t kHandlersInFlightMax = 2048;
inline constexpr uint32_t kDeliveriesMax = 100;
inline constexpr Duration kPoisonRetry = 5s;
inline constexpr int kPoisonDeliveriesMax = 3;
// A cancel of a job that is not known is delivered so often: its submit may be yet to be taken.
inline constexpr uint32_t kCancelDeliveriesMax = 4;
inline constexpr Duration kDuplicateWindow = 2min;
// For how long it is known that a message was processed: longer than the bus waits for the answer
// before it delivers again.
inline constexpr Duration kProcessedTtl = 10min;
inline constexpr Duration kProcessedMargin = 1min;
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

// --- The bus on NATS -----------------------------------------------------------------------------
// Between two tries to reach a server, and for one of them.
inline constexpr Duration kNatsReconnectWait = 2s;
inline constexpr Duration kNatsConnectWait = 2s;
// What was written when a connection is closed on purpose may still leave for this long.
inline constexpr Duration kNatsFlushWait = 500ms;
// How often a bus that drains looks whether it has.
inline constexpr Duration kNatsDrainPoll = 5ms;
// A server that does not answer pings is left: a replica must not seem to listen when it is deaf.
// Within three times the first, which is the most that a setting may ask for.
inline constexpr Duration kNatsPingEvery = 2s;
inline constexpr int kNatsPingsUnansweredMax = 2;
// For the answer to a publish or to a question; then it is unknown.
inline constexpr Duration kNatsAnswerWait = 5s;
// A server that refused a message counts as unable to take any for this long, if none follows: who
// is told so may send no more. Longer than the pauses between tries of a job.
inline constexpr Duration kRefusalRemembered = 45s;
// A publish that finds no stream is tried again, as the Go client does.
inline constexpr int kNoRespondersRetriesMax = 2;
inline constexpr Duration kNoRespondersRetry = 250ms;
// Publishes without an answer, and their bytes; beyond them publishers are pushed back.
inline constexpr size_t kPublishesInFlightMax = 8192;
inline constexpr size_t kPublishBytesInFlightMax = 64 << 20;
// Messages that a consumer may hand out without an answer, whatever a setting asks for.
inline constexpr int64_t kAckPendingMax = 50'000;
// A message on which we work for long is not given to others: the server is told this often in the
// time after which it would be. A third of it may pass unnoticed.
inline constexpr int kProgressTellingsPerAckWait = 4;
// How often replicas look for messages that nobody answered, and for how long one must have been
// delivered: within their sum, and what it takes to see that a replica is dead, they are taken
// over.
inline constexpr Duration kRecoverEvery = 1s;
inline constexpr Duration kRecoverAfter = 5s;
// Answers that are said again when their message comes again: those of the time in which it may be
// looked for, by a replica that takes this many a second.
inline constexpr size_t kAnswersPerSecond = 12'000;
inline constexpr size_t kAnsweredRemembered = 131'072;
// The last of them, said again over a new connection.
inline constexpr size_t kAnswersSaidAgain = 16'384;
// How often streams and consumers are looked after: others may take them away.
inline constexpr Duration kConsumerCheckEvery = 5s;
// Of a stream, the last messages among which one is looked for: a minute of dispatches of a busy
// cluster. Only their headers are read.
inline constexpr uint64_t kLookupSequences = 262'144;
// Messages read from a stream before it is asked how far the others are, and the most that then
// wait to be handled; how often the latter is looked at.
inline constexpr size_t kRecoveryBatch = 256;
inline constexpr Duration kRecoveryPause = 5ms;
// Questions to a stream that are under way together, and the bytes read by them that are held.
inline constexpr size_t kRecoveryQuestions = 64;
inline constexpr size_t kRecoveryBytes = 16 << 20;

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
// Of all clients of a listener together: a few hundred megabytes.
inline constexpr size_t kSubscriptionsOfAllMax = 250'000;
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
// A heartbeat that tells of another number of jobs follows the last one no sooner than this.
inline constexpr Duration kHeartbeatSoonest = 500ms;
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
// A job whose payload cannot be fetched for this long is given back: a server restarts in less.
inline constexpr Duration kPayloadPatience = 10s;

// --- Metrics -------------------------------------------------------------------------------------
// Distinct label values of one metric; what comes after them is counted as "other".
inline constexpr size_t kMetricLabelValuesMax = 200;

static_assert(kJobLeaseRenewEvery + kLeaseRenewRetry * (kLeaseRenewalFailuresMax - 1) +
                      kLeaseSafetyMargin <
                  kJobLeaseTtl,
              "a lease must outlive its renewals' failures");
static_assert(kLeaseSafetyMargin < kJobLeaseTtl - 2 * kJobLeaseRenewEvery,
              "a healthy holder may always publish");
static_assert(kAliveTtl + kLeaderTryEvery <= 5s, "a dead leader is followed within 5 s");
static_assert(kAliveRenewEvery * 3 < kAliveTtl, "two lost signs of life are not death");
static_assert(kAliveRenewEvery + kAliveSafetyMargin < kAliveTtl, "a healthy replica may publish");
static_assert(kClaimTtl > kSweepEvery, "a claim is not swept before its claimer can act");
static_assert(kRetireBatch * (1s / kRetirePause) > 40'000, "retention keeps up with what ends");
static_assert(kRedisLivedTtl > kJobLeaseTtl, "a dead replica is known as long as its leases live");
static_assert(kBackoffBase < kBackoffMax);
static_assert(kPlacementBytesMax <= kLabelsBytesMax);
static_assert(kEffectiveConfigBytesMax < kDispatchBytesMax, "a dispatch has room for it");
static_assert(kNoteEvery * 4 < kDeafAfter && kDeafAfter < kWorkerTtl);
static_assert(kHeartbeatEvery * 3 < kWorkerTtl, "two lost heartbeats are not a lost worker");
static_assert(kOutputBytesDefault <= kBlobBytesMax, "what a program may say can be stored");
static_assert(kClientUnsentBytesMax > 2 * kPacketBytesMax, "one message always fits");
static_assert(kGroupBytesMax > kPacketBytesMax, "one message always fits");
static_assert(kPublishBytesInFlightMax > kPacketBytesMax, "one message always fits");
static_assert(kNoRespondersRetriesMax * kNoRespondersRetry < kNatsAnswerWait);
static_assert(kAnsweredRemembered > kAnswersPerSecond * ((2 * kRecoverAfter) / 1s) &&
                  kAnsweredRemembered > kAnswersSaidAgain,
              "a replica knows what it answered when it looks for what nobody did");
static_assert(kAliveTtl + kRecoverAfter + 2 * kRecoverEvery < 15s,
              "the messages of a dead replica move within 15 s");
static_assert(kUndoneBytesMax > kPacketBytesMax && kUnsentBytesMax > 2 * kPacketBytesMax,
              "one message always passes an edge");
static_assert(kUnsentBytesMax >= 2 * kBlobBytesMax && kUndoneBytesOfAllMax > 2 * kBlobBytesMax,
              "one payload always passes an edge");
static_assert(kNatsHeaderBytesMax < kPacketBytesMax && kSubjectBytesMax * 3 < kControlLineBytesMax);
static_assert(kDiskReserveBytes > kMemtableBytesMax + kLogBytesMax / 2,
              "what is in memory can still be written when new work is refused");

}  // namespace fairlead::limits
