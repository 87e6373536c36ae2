#include "store/redis/scripts.h"

#include <initializer_list>

#include <fmt/core.h>

#include "base/breaker.h"
#include "base/limits.h"

namespace fairlead::store::redis {

const char kBasePart[] = R"lua(
local call = redis.call
local taken = 0
local function take()
  taken = taken + 1
  return ARGV[taken]
end
local function take_list()
  local list = {}
  for i = 1, tonumber(take()) do list[i] = take() end
  return list
end
local function whole(number) return string.format('%.0f', number) end
-- A Redis that is full refuses what needs memory, unless a script has written something before that
-- needs none. What moves, ends or keeps alive what is there begins with this; new work does not.
local function go_on_when_full() call('DEL', 'fairlead:none') end
-- Fields of a job. Where something else than a job lies there is none.
local function fields_of(...)
  local fields = redis.pcall('HMGET', ...)
  return fields.err and {} or fields
end

local META = 'job:meta:'
local LEASE = 'cordum:scheduler:job:'
local TENANT_SLOTS = 'fairlead:slots:tenant:'
local WORKER_SLOTS = 'fairlead:slots:worker:'
local DUE = 'fairlead:due'
local UNPUBLISHED = 'fairlead:unpublished'
local OUTBOX = 'fairlead:outbox'
local QUEUE = 'fairlead:queue'
local MESSAGES = 'fairlead:messages'
local TIMERS = 'fairlead:timers'
local TIMER_PAYLOADS = 'fairlead:timer:payloads'
local INFLIGHT = 'cordum:bus:inflight:'
local REPLICAS = 'fairlead:replicas'
local ALIVE = 'fairlead:alive:'

local function index_of(state) return 'job:index:' .. string.lower(state) end
local TERMINAL = {SUCCEEDED = 1, FAILED = 1, TIMEOUT = 1, CANCELLED = 1, DENIED = 1,
                  OUTPUT_QUARANTINED = 1}
)lua";

const char kLeasePart[] = R"lua(
-- A token of ours is <instance>.<nonce>.<uuid>: its replica is what stands before the last dot.
-- One that has shown life and shows none now is dead, and its leases are free. Others' never are.
local function is_dead(token)
  local replica = string.match(token, '^(.*)%.[^.]*$')
  return replica and call('EXISTS', ALIVE .. replica) == 0
    and call('EXISTS', 'fairlead:lived:' .. replica) == 1
end
local function acquire(key, token, ttl_ms)
  local set = redis.pcall('SET', key, token, 'NX', 'PX', ttl_ms)
  if set and not set.err then return 1 end
  local holder = call('GET', key)
  if holder and holder ~= token and not is_dead(holder) then return 0 end
  go_on_when_full()
  call('SET', key, token, 'PX', ttl_ms)
  return 1
end
)lua";

const char kLetterPart[] = R"lua(
local function keep_letter(job, seconds, entry)
  call('SET', 'dlq:entry:' .. job, entry, 'EX', DEAD_LETTER_SECONDS)
  if call('ZADD', 'dlq:index', seconds, job) == 0 then return end
  for _, oldest in ipairs(call('ZRANGE', 'dlq:index', 0, -DEAD_LETTERS_MAX - 1)) do
    call('ZREM', 'dlq:index', oldest)
    call('DEL', 'dlq:entry:' .. oldest)
  end
end
)lua";

namespace {

constexpr char kStatesPart[] = R"lua(
local LIVE = {'pending', 'approval_required', 'scheduled', 'dispatched', 'running', 'retrying'}
local ENDED = {'succeeded', 'failed', 'timeout', 'cancelled', 'denied', 'output_quarantined'}
)lua";

// Another server than the one that wrote this, or the same started or promoted anew, may lack what
// was last acknowledged.
constexpr char kIdentifyScript[] = R"lua(
local now = take()
local info = call('INFO', 'server') .. call('INFO', 'replication')
local id = string.match(info, 'run_id:(%x+)') .. '.' .. string.match(info, 'master_replid:(%x+)')
local known, since = unpack(call('HMGET', 'fairlead:server', 'id', 'since'))
if known == id then return since end
go_on_when_full()
if not known then
  call('HSET', 'fairlead:server', 'id', id)
  return since
end
-- The clock of who noticed the last one may have been ahead.
since = whole(math.max(tonumber(now), tonumber(since or '0') + 1000000))
call('HSET', 'fairlead:server', 'id', id, 'since', since)
return since
)lua";

constexpr char kLoadScript[] = R"lua(
local id, with_request, token = take(), take() == '1', take()
local leased = 0
if token ~= '' then leased = acquire(LEASE .. id, token, take()) end
local mark = take()
-- Only a hint: results are loaded also by a Redis that is full.
if mark ~= '' then redis.pcall('SET', INFLIGHT .. mark, 1, 'EX', INFLIGHT_SECONDS) end
local job = look_at(id, with_request and read_all or read_record)
return {leased, job and bundle(id, job, with_request)}
)lua";

constexpr char kRecordsScript[] = R"lua(
local found = {}
for _, id in ipairs(take_list()) do
  local job = look_at(id, read_record)
  if job then found[#found + 1] = {id, bundle(id, job, false)} end
end
return found
)lua";

// The members of a set of jobs with the time that they are ordered by; those that are gone leave.
constexpr char kMembersScript[] = R"lua(
local set, by_creation, most = take(), take() == '1', tonumber(take())
local found, cursor = {}, '0'
repeat
  local page = call('SSCAN', set, cursor, 'COUNT', 500)
  cursor = page[1]
  for _, id in ipairs(page[2]) do
    local times = fields_of(META .. id, 'updated_at', 'fl_created')
    local at = by_creation and times[2] or times[1]
    if at then
      found[#found + 1] = id
      found[#found + 1] = at
    else
      call('SREM', set, id)
    end
  end
until cursor == '0' or #found >= 2 * most
return found
)lua";

constexpr char kClaimScript[] = R"lua(
local now, opened, most, classes = tonumber(take()), take(), tonumber(take()), take_list()
return_expired_claims(now)
local claimed = {}
while #claimed < most do
  local claim
  if #classes == 0 then
    claim = claim_due(now, opened)
  else
    claim = claim_from(classes, now, opened)
  end
  if not claim then break end
  claimed[#claimed + 1] = claim
end
return claimed
)lua";

constexpr char kUnclaimScript[] = R"lua(
local id, next_try = take(), take()
unclaim(id, next_try)
return 1
)lua";

constexpr char kWaitingScript[] = R"lua(
local after, limit = take(), take()
local from = after == '' and '-' or '(' .. after
local found = {}
for _, class in ipairs(call('ZRANGEBYLEX', CLASS_NAMES, from, '+', 'LIMIT', 0, limit)) do
  local oldest = call('ZRANGE', WAITING .. class, 0, 0, 'WITHSCORES')[2]
  local claimed = call('ZRANGE', CLAIMED .. class, 0, 0, 'WITHSCORES')[2]
  if not oldest or (claimed and tonumber(claimed) < tonumber(oldest)) then oldest = claimed end
  found[#found + 1] = {class, call('HGET', CLASS_COUNTS, class), oldest}
end
return found
)lua";

constexpr char kViewScript[] = R"lua(
local counts = {}
for _, states in ipairs({LIVE, ENDED}) do
  for _, state in ipairs(states) do counts[#counts + 1] = call('ZCARD', index_of(state)) end
end
-- Whoever looks first counts who died since the last look of all.
for _, replica in ipairs(call('SMEMBERS', REPLICAS)) do
  if call('EXISTS', ALIVE .. replica) == 0 then
    call('SREM', REPLICAS, replica)
    call('INCR', 'fairlead:deaths')
  end
end
-- However many classes there are, some of them.
local classes = call('HSCAN', CLASS_COUNTS, take(), 'COUNT', take())
return {counts, classes[2], call('GET', 'fairlead:deaths'), classes[1]}
)lua";

// The live jobs of each topic and tenant, of each state the longest unmoved ones, up to a limit.
constexpr char kQueuesScript[] = R"lua(
local most, complete = tonumber(take()), 1
local queues, order = {}, {}
for place, state in ipairs(LIVE) do
  local index = index_of(state)
  local page = call('ZRANGE', index, 0, most - 1, 'WITHSCORES')
  if #page == 2 * most and call('ZCARD', index) > most then complete = 0 end
  for i = 1, #page, 2 do
    local of = fields_of(META .. page[i], 'topic', 'tenant')
    local topic, tenant = of[1] or '', of[2] or ''
    local name = #topic .. ' ' .. topic .. tenant
    local queue = queues[name]
    if not queue then
      queue = {topic, tenant, '', {0, 0, 0, 0, 0, 0}}
      queues[name] = queue
      order[#order + 1] = queue
    end
    queue[4][place] = queue[4][place] + 1
    local waits = state == 'pending' or state == 'scheduled' or state == 'retrying'
    if waits and (queue[3] == '' or tonumber(page[i + 1]) < tonumber(queue[3])) then
      queue[3] = page[i + 1]
    end
  end
end
return {complete, order}
)lua";

constexpr char kAcquireScript[] = R"lua(
local key, token = take(), take()
return acquire(key, token, take())
)lua";

constexpr char kRenewScript[] = R"lua(
local key, token = take(), take()
if call('GET', key) ~= token then return 0 end
return call('PEXPIRE', key, take())
)lua";

constexpr char kReleaseScript[] = R"lua(
local key, token = take(), take()
if call('GET', key) ~= token then return 0 end
return call('DEL', key)
)lua";

constexpr char kSignOfLifeScript[] = R"lua(
local replica = take()
-- Whether new work would be refused; a replica lives all the same.
local tried = redis.pcall('SADD', REPLICAS, replica)
go_on_when_full()
call('SADD', REPLICAS, replica)
call('SET', ALIVE .. replica, 1, 'PX', take())
call('SET', 'fairlead:lived:' .. replica, 1, 'PX', take())
local time = call('TIME')
return {time[1], time[2], type(tried) == 'table' and tried.err}
)lua";

constexpr char kEnqueueScript[] = R"lua(
local stored_at, message = take(), take()
return keep_message(QUEUE, stored_at, message)
)lua";

constexpr char kForgetScript[] = R"lua(
for _, sequence in ipairs(take_list()) do
  call('ZREM', OUTBOX, sequence)
  call('ZREM', QUEUE, sequence)
  call('HDEL', MESSAGES, sequence)
end
return 1
)lua";

// Those that are told go behind the others: nobody else is told of them for a while, and one that
// the bus does not take keeps none from its turn.
constexpr char kOrphansScript[] = R"lua(
local now, before, limit = take(), take(), take()
local found = {}
local old = call('ZRANGEBYSCORE', OUTBOX, '-inf', before, 'LIMIT', 0, limit)
if #old > 0 then go_on_when_full() end
for _, sequence in ipairs(old) do
  call('ZADD', OUTBOX, now, sequence)
  found[#found + 1] = sequence
  found[#found + 1] = call('HGET', MESSAGES, sequence)
end
return found
)lua";

constexpr char kQueuedScript[] = R"lua(
local limit = tonumber(take())
local found = {}
if limit == 0 then return found end
for _, sequence in ipairs(call('ZRANGE', QUEUE, 0, limit - 1)) do
  found[#found + 1] = sequence
  found[#found + 1] = call('HGET', MESSAGES, sequence)
end
return found
)lua";

constexpr char kDueTimersScript[] = R"lua(
local now, limit = take(), take()
local due = call('ZRANGEBYSCORE', TIMERS, '-inf', now, 'WITHSCORES', 'LIMIT', 0, limit)
local found = {}
for i = 1, #due, 2 do
  found[#found + 1] = {due[i], due[i + 1], call('HGET', TIMER_PAYLOADS, due[i])}
end
return found
)lua";

constexpr char kPutDeadLetterScript[] = R"lua(
local job, seconds = take(), take()
keep_letter(job, seconds, take())
return 1
)lua";

// Latest first, behind the time and the job named; those that have expired leave.
constexpr char kDeadLettersScript[] = R"lua(
local at, last, limit = take(), take(), tonumber(take())
-- An entry of a Go service stands there by whole seconds: where one is, its place tells more than
-- its time, unless it has come again since.
local function place_behind()
  if at == '' then return 0 end
  local score = last ~= '' and call('ZSCORE', 'dlq:index', last)
  if score and tonumber(score) <= tonumber(at) then
    return call('ZREVRANK', 'dlq:index', last) + 1
  end
  local place = call('ZCOUNT', 'dlq:index', '(' .. at, '+inf')
  if last == '' then return place end
  for _, job in ipairs(call('ZREVRANGEBYSCORE', 'dlq:index', at, at)) do
    if job < last then break end
    place = place + 1
  end
  return place
end
local from = place_behind()
local found = {}
while #found < limit do
  local jobs = call('ZREVRANGE', 'dlq:index', from, from + limit - #found - 1)
  if #jobs == 0 then break end
  for _, job in ipairs(jobs) do
    local entry = redis.pcall('GET', 'dlq:entry:' .. job)
    if entry then
      found[#found + 1] = {job, call('ZSCORE', 'dlq:index', job), type(entry) == 'string' and entry}
      from = from + 1
    else
      call('ZREM', 'dlq:index', job)
    end
  end
end
return found
)lua";

constexpr char kEraseDeadLetterScript[] = R"lua(
local job = take()
call('ZREM', 'dlq:index', job)
return call('DEL', 'dlq:entry:' .. job)
)lua";

constexpr char kBlobScript[] = R"lua(
local key, most = take(), tonumber(take())
local size = call('STRLEN', key)
if size == 0 and call('EXISTS', key) == 0 then return {false} end
return {most > 0 and call('GETRANGE', key, 0, most - 1) or '', call('PTTL', key), size}
)lua";

constexpr char kSwapBlobScript[] = R"lua(
local key, expects, expected, bytes, ttl_ms = take(), take() == '1', take(), take(), take()
local present = call('GET', key)
if expects and present ~= expected or not expects and present then return 0 end
if ttl_ms == '' then
  call('SET', key, bytes)
else
  call('SET', key, bytes, 'PX', ttl_ms)
end
return 1
)lua";

constexpr char kPutWorkersScript[] = R"lua(
local key, snapshot, ttl_ms, workers = take(), take(), take(), take_list()
call('DEL', 'cordum:workers:count')
call('SET', key, snapshot, 'PX', ttl_ms)
if #workers == 0 then return 1 end
for from = 1, #workers, 5000 do
  call('SADD', 'cordum:workers:count', unpack(workers, from, math.min(#workers, from + 4999)))
end
call('EXPIRE', 'cordum:workers:count', WORKERS_SECONDS)
return 1
)lua";

// The Go services' counter of failures is kept as they keep it: three of them, and it is open for
// them until the counter is gone.
constexpr char kBreakerScript[] = R"lua(
local name, event, now = take(), take(), tonumber(take())
local own, failures = 'fairlead:cb:' .. name, 'cordum:cb:' .. name .. ':failures'
local until_text, probes, probed_at = unpack(call('HMGET', own, 'open_until', 'probes', 'probed_at'))
local open_until = tonumber(until_text or nil)
probes = tonumber(probes or '0')

local function open()
  open_until = now + OPEN_FOR
  call('DEL', own)
  call('HSET', own, 'open_until', whole(open_until))
  call('EXPIRE', own, BREAKER_SECONDS)
  call('SET', failures, FAILURES_TO_OPEN, 'PX', OPEN_FOR / 1000)
end
local function ask()
  if not open_until then
    -- A Go service may have opened it.
    local counted = tonumber(call('GET', failures) or '0')
    if counted < FAILURES_TO_OPEN then return 1 end
    open_until = now + 1000 * math.max(call('PTTL', failures), 0)
    return 0
  end
  if now < open_until then return 0 end
  if now >= tonumber(probed_at or '0') + OPEN_FOR then probes = 0 end
  if probes >= PROBES_MAX then return 0 end
  call('HSET', own, 'probes', probes + 1, 'probed_at', whole(now))
  return 1
end

local admitted = 1
if event == 'ask' then
  admitted = ask()
elseif event == 'success' then
  if not open_until then
    call('DEL', failures)
  elseif now >= open_until and probes > 0 then
    call('HINCRBY', own, 'probes', -1)
    if call('HINCRBY', own, 'successes', 1) >= SUCCESSES_TO_CLOSE then
      call('DEL', own, failures)
      open_until = nil
    end
  end
elseif open_until then
  if now >= open_until then open() end
else
  local counted = call('INCR', failures)
  if counted == 1 then call('PEXPIRE', failures, OPEN_FOR / 1000) end
  if counted >= FAILURES_TO_OPEN then open() end
end
return {admitted, open_until and whole(open_until)}
)lua";

constexpr char kMessagePart[] = R"lua(
-- Sequences are written with leading zeros: those of one time stand in their order.
local function keep_message(set, stored_at, message)
  local sequence = call('INCR', 'fairlead:sequence')
  local name = string.format('%020.0f', sequence)
  call('ZADD', set, stored_at, name)
  call('HSET', MESSAGES, name, message)
  return sequence
end
)lua";

std::string joined(std::initializer_list<const char*> parts, const std::string& constants) {
  std::string text = constants;
  for (const char* part : parts) text += part;
  return text;
}

}  // namespace

std::vector<std::string> script_texts(const RedisOptions& options) {
  auto seconds = [](Duration duration) {
    return std::chrono::duration_cast<std::chrono::seconds>(duration).count();
  };
  // Ended jobs are retired by a sweep that knows all that belongs to them; Redis' own clock takes
  // those that no sweep came for.
  std::string constants = fmt::format(
      "local ENDED_SECONDS, IDEMPOTENCY_SECONDS, DEAD_LETTER_SECONDS = {}, {}, {}\n"
      "local DEAD_LETTERS_MAX, CLAIM_TTL, RECENT_MAX, EVENTS_MAX = {}, {}, {}, {}\n"
      "local ADOPTED_WAIT, ADOPTED_RUNNING_WAIT = {}, {}\n"
      "local PROCESSED_SECONDS, INFLIGHT_SECONDS, WORKERS_SECONDS, BREAKER_SECONDS = {}, {}, {}, "
      "{}\n"
      "local FAILURES_TO_OPEN, OPEN_FOR, PROBES_MAX, SUCCESSES_TO_CLOSE = {}, {}, {}, {}\n",
      seconds(options.ended_job_ttl + limits::kRedisEndedGrace), seconds(options.idempotency_ttl),
      seconds(options.dead_letter_ttl), options.dead_letters_max, limits::kClaimTtl.count(),
      limits::kRedisRecentMax, limits::kHistoryEventsMax, options.adopted_wait.count(),
      options.adopted_running_wait.count(), seconds(options.processed_ttl),
      seconds(limits::kRedisInflightTtl), seconds(limits::kRedisWorkersTtl),
      seconds(limits::kRedisBreakerTtl), kBreakerFailuresToOpen, kBreakerOpenFor.count(),
      kBreakerProbesMax, kBreakerSuccessesToClose);
  auto make = [&](std::initializer_list<const char*> parts) { return joined(parts, constants); };
  return {
      make({kBasePart, kIdentifyScript}),
      make({kBasePart, kLeasePart, kClassPart, kJobPart, kLoadScript}),
      make({kBasePart, kClassPart, kJobPart, kApplyScript, kClaimPart, kLetterPart, kMessagePart,
            kApplyMoreScript}),
      make({kBasePart, kClassPart, kJobPart, kScanScript}),
      make({kBasePart, kMembersScript}),
      make({kBasePart, kClassPart, kJobPart, kRecordsScript}),
      make({kBasePart, kClassPart, kJobPart, kClaimPart, kClaimScript}),
      make({kBasePart, kClassPart, kJobPart, kClaimPart, kUnclaimScript}),
      make({kBasePart, kClassPart, kWaitingScript}),
      make({kBasePart, kStatesPart, kClassPart, kViewScript}),
      make({kBasePart, kStatesPart, kQueuesScript}),
      make({kBasePart, kLeasePart, kAcquireScript}),
      make({kBasePart, kRenewScript}),
      make({kBasePart, kReleaseScript}),
      make({kBasePart, kSignOfLifeScript}),
      make({kBasePart, kMessagePart, kEnqueueScript}),
      make({kBasePart, kForgetScript}),
      make({kBasePart, kOrphansScript}),
      make({kBasePart, kQueuedScript}),
      make({kBasePart, kDueTimersScript}),
      make({kBasePart, kLetterPart, kPutDeadLetterScript}),
      make({kBasePart, kDeadLettersScript}),
      make({kBasePart, kEraseDeadLetterScript}),
      make({kBasePart, kBlobScript}),
      make({kBasePart, kSwapBlobScript}),
      make({kBasePart, kPutWorkersScript}),
      make({kBasePart, kBreakerScript}),
      make({kBasePart, kStatesPart, kClassPart, kJobPart, kRetireScript}),
  };
}

}  // namespace fairlead::store::redis
