// The scripts' parts that know jobs: looking at one, changing one.
#include "store/redis/scripts.h"

namespace fairlead::store::redis {

const char kJobPart[] = R"lua(
-- What is looked at before a job is changed. We keep, beside the Go services' fields: the revision,
-- what we last saw of the fields that they change, and where the job stands in our own indexes.
local REVISION, SEEN, STATE, UPDATED, APPROVAL, PLACES, DEADLINE, CHECKED, RECORD, ATTEMPTS, RESULT,
  FAILURE, REQUEST = 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13
local function read_guard(meta)
  return fields_of(meta, 'fl_rev', 'fl_seen', 'state', 'updated_at', 'approval_revision',
    'fl_places', 'deadline_unix', 'safety_checked_at')
end
local function read_record(meta)
  return fields_of(meta, 'fl_rev', 'fl_seen', 'state', 'updated_at', 'approval_revision',
    'fl_places', 'deadline_unix', 'safety_checked_at', 'fl_rec', 'attempts', 'result_ptr',
    'failure_reason')
end
local function read_all(meta)
  return fields_of(meta, 'fl_rev', 'fl_seen', 'state', 'updated_at', 'approval_revision',
    'fl_places', 'deadline_unix', 'safety_checked_at', 'fl_rec', 'attempts', 'result_ptr',
    'failure_reason', 'fl_req')
end

-- The places: the tenant and the worker of whom it holds a slot, when that worker got it, its
-- waiting class, and its times in the sets of due and of unpublished jobs; each may be ''. One that
-- no commit of ours has touched says so.
local TENANT_SLOT, WORKER_SLOT, WORKER_AT, CLASS, DUE_AT, UNPUBLISHED_AT, FOREIGN = 1, 2, 3, 4, 5, 6, 7
local function read_places(bytes)
  local read, places = pcall(cmsgpack.unpack, bytes)
  return read and type(places) == 'table' and #places >= UNPUBLISHED_AT and places
end
local function places_of(job)
  return job and job[PLACES] and read_places(job[PLACES]) or {'', '', '', '', '', '', 'foreign'}
end

local function seen_of(state, updated, approval)
  return state .. '|' .. (updated or '') .. '|' .. (approval or '')
end

-- The job was moved by another's hand: it leaves our indexes, and is due if it stays where it is.
local function follow_move(id, job)
  local places = places_of(job)
  if places[CLASS] ~= '' then leave_class(id, places[CLASS]) end
  if places[DUE_AT] ~= '' then call('ZREM', DUE, id) end
  if places[UNPUBLISHED_AT] ~= '' then call('ZREM', UNPUBLISHED, id) end
  -- Whoever it was with, it is with another now, if with anybody.
  if places[WORKER_SLOT] ~= '' then call('ZREM', WORKER_SLOTS .. places[WORKER_SLOT], id) end
  local tenant, state = places[TENANT_SLOT], job[STATE]
  if state ~= 'SCHEDULED' and state ~= 'DISPATCHED' and state ~= 'RUNNING' then
    if tenant ~= '' then call('SREM', TENANT_SLOTS .. tenant, id) end
    tenant = ''
  end
  -- One that needs approval waits for that.
  local due = ''
  if not TERMINAL[state] and state ~= 'APPROVAL_REQUIRED' then
    local wait = state == 'RUNNING' and ADOPTED_RUNNING_WAIT or ADOPTED_WAIT
    due = whole((tonumber(job[UPDATED] or '') or 0) + wait)
    call('ZADD', DUE, due, id)
  end
  job[PLACES] = cmsgpack.pack({tenant, '', '', '', due, '', places[FOREIGN]})
  call('HSET', META .. id, 'fl_places', job[PLACES])
end

-- The fields that `read` gives, or nil when there is no job. The Go services know no revision: what
-- they changed since we last looked counts as a commit of its own.
local function look_at(id, read)
  local meta = META .. id
  local job = read(meta)
  if not job[STATE] then return nil end
  local seen = seen_of(job[STATE], job[UPDATED], job[APPROVAL])
  if job[SEEN] == seen then return job end
  local moved = not job[SEEN] or string.match(job[SEEN], '^[^|]*') ~= job[STATE]
  job.changed = true
  job[REVISION] = whole((tonumber(job[REVISION] or '') or 0) + 1)
  job[SEEN] = seen
  go_on_when_full()
  call('HSET', meta, 'fl_rev', job[REVISION], 'fl_seen', seen)
  if not TERMINAL[job[STATE]] then
    -- Live jobs do not expire.
    call('PERSIST', meta)
    call('PERSIST', 'job:req:' .. id)
  end
  if moved then follow_move(id, job) end
  return job
end

-- What the store makes a record of. Of a job that no commit of ours has touched: all that a Go
-- service wrote. Its approval writes labels into the request. A reply ends where the first is nil:
-- what may not have been read comes last.
local function bundle(id, job, with_request)
  if not job[RECORD] then
    return {job[REVISION], false, call('HGETALL', META .. id), call('GET', 'job:req:' .. id),
      call('LRANGE', 'job:events:' .. id, -EVENTS_MAX, -1)}
  end
  local json = with_request and (job[APPROVAL] or not job[REQUEST])
    and call('GET', 'job:req:' .. id)
  local approval = job[APPROVAL] and call('HMGET', META .. id, 'approval_decision',
    'approval_job_hash', 'approval_policy_snapshot', 'approval_by')
  return {job[REVISION], job[RECORD], job[STATE], job[UPDATED], job[ATTEMPTS], job[RESULT],
    job[FAILURE], job[PLACES], approval, job[REQUEST], json}
end
)lua";

// The part that every change needs ends with a return; what few need is behind it.
const char kApplyScript[] = R"lua(
local id, revision, token, state, may_follow, ended, updated, places, tenant_limit, worker_limit,
  key, of_tenant, trace, deadline, request, result, of_worker, approve, release, mark, in_flight,
  checked, decision, events, words, more = unpack(ARGV, 1, 26)
ended, more, events, words = ended == '1', more == '1', tonumber(events), tonumber(words)
local meta = META .. id
local job = look_at(id, read_guard)
taken = 26 + events + words

local function conflict(lease_lost)
  local all = job and read_record(meta)
  return {'conflict', lease_lost, all and bundle(id, all, false)}
end
if (job and job[REVISION] or '') ~= revision then return conflict(0) end
if token ~= '' and call('GET', LEASE .. id) ~= token then return conflict(1) end
local from = job and job[STATE] or ''
if not string.find(may_follow, '|' .. from .. '|', 1, true) then return {'refused', from} end

-- Slots. A job that ended elsewhere may still hold one: some are looked at before it counts.
local function drop_dead(members, slots, remove)
  for _, member in ipairs(members) do
    if member ~= id and not look_at(member, read_guard) then call(remove, slots, member) end
  end
end
local old, new = places_of(job), cmsgpack.unpack(places)
local tenant, worker = new[TENANT_SLOT], new[WORKER_SLOT]
local ghosts = more and take_list()
if tenant ~= '' and tenant_limit ~= '0' then
  local slots, limit = TENANT_SLOTS .. tenant, tonumber(tenant_limit)
  local own = old[TENANT_SLOT] == tenant and 1 or 0
  if call('SCARD', slots) - own >= limit then
    drop_dead(call('SRANDMEMBER', slots, 8), slots, 'SREM')
    local held = call('SCARD', slots) - own
    if held >= limit then return {'full', 'tenant', held} end
  end
end
if worker ~= '' and worker_limit ~= '0' then
  local slots, limit = WORKER_SLOTS .. worker, tonumber(worker_limit)
  local own = old[WORKER_SLOT] == worker and 1 or 0
  for i = 1, ghosts and #ghosts or 0, 2 do
    local at = ghosts[i] ~= id and call('ZSCORE', slots, ghosts[i])
    if at and tonumber(at) == tonumber(ghosts[i + 1]) then own = own + 1 end
  end
  local count = call('ZCARD', slots)
  if count - own >= limit then
    -- Not always the same ones.
    local first = updated % count
    drop_dead(call('ZRANGE', slots, first, first + 7), slots, 'ZREM')
    local held = call('ZCARD', slots) - own
    if held >= limit then return {'full', 'worker', held} end
  end
end
if key ~= '' and not call('SET', key, id, 'NX', 'EX', IDEMPOTENCY_SECONDS) then
  local holder = call('GET', key)
  if holder ~= id then return {'duplicate', holder} end
end

-- It will be done, by a Redis that is full too unless the job is new: taking away comes first.
if job and from ~= state then
  call('ZREM', index_of(from), id)
elseif job then
  go_on_when_full()
end
local approval = job and job[APPROVAL]
if approve == '1' and (from ~= state or not approval) then
  approval = whole(tonumber(approval or '0') + 1)
  call('HSET', meta, 'approval_revision', approval, 'approval_status', 'pending',
    'approval_actionability', 'actionable')
  call('HDEL', meta, 'approval_decision', 'approval_job_hash', 'approval_policy_snapshot')
end
call('HSET', meta, 'fl_seen', seen_of(state, updated, approval), 'fl_places', places,
  unpack(ARGV, 27 + events, 26 + events + words))
call('ZADD', index_of(state), updated, id)
if call('ZADD', 'job:recent', updated, id) == 1 then
  call('ZREMRANGEBYRANK', 'job:recent', 0, -RECENT_MAX - 1)
end
if events > 0 then call('RPUSH', 'job:events:' .. id, unpack(ARGV, 27, 26 + events)) end
if decision ~= '' and not (job and job[CHECKED] == checked) then
  -- A job that policy holds back is asked about again and again.
  if call('RPUSH', 'job:decisions:' .. id, decision) > EVENTS_MAX then
    call('LTRIM', 'job:decisions:' .. id, -EVENTS_MAX, -1)
  end
  call('EXPIRE', 'job:decisions:' .. id, ENDED_SECONDS)
end

if old[FOREIGN] then
  if not ended then call('SADD', 'job:tenant:active:' .. of_tenant, id) end
  if trace ~= '' then call('SADD', 'trace:' .. trace, id) end
end
-- Who approves reads it, however late. Otherwise it is for others to look at.
if request ~= '' and approve == '1' then
  call('SET', 'job:req:' .. id, request)
elseif request ~= '' then
  call('SET', 'job:req:' .. id, request, 'EX', ENDED_SECONDS)
elseif approve == '1' and from ~= state then
  call('PERSIST', 'job:req:' .. id)
end

if old[TENANT_SLOT] ~= tenant then
  if old[TENANT_SLOT] ~= '' then call('SREM', TENANT_SLOTS .. old[TENANT_SLOT], id) end
  if tenant ~= '' then call('SADD', TENANT_SLOTS .. tenant, id) end
end
if old[WORKER_SLOT] ~= worker or old[WORKER_AT] ~= new[WORKER_AT] then
  if old[WORKER_SLOT] ~= '' then call('ZREM', WORKER_SLOTS .. old[WORKER_SLOT], id) end
  if worker ~= '' then call('ZADD', WORKER_SLOTS .. worker, new[WORKER_AT], id) end
end
if old[CLASS] ~= '' then
  leave_class(id, old[CLASS], new[CLASS], state == 'DISPATCHED' and updated)
end
if old[DUE_AT] ~= new[DUE_AT] then
  if new[DUE_AT] == '' then call('ZREM', DUE, id) else call('ZADD', DUE, new[DUE_AT], id) end
end
if old[UNPUBLISHED_AT] ~= new[UNPUBLISHED_AT] then
  if new[UNPUBLISHED_AT] == '' then
    call('ZREM', UNPUBLISHED, id)
  else
    call('ZADD', UNPUBLISHED, new[UNPUBLISHED_AT], id)
  end
end
local old_deadline = job and job[DEADLINE] or ''
if deadline ~= old_deadline then
  if deadline == '' then
    call('ZREM', 'job:deadline', id)
    call('HDEL', meta, 'deadline_unix')
  else
    call('ZADD', 'job:deadline', deadline, id)
    if job then call('HSET', meta, 'deadline_unix', deadline) end
  end
end

if not ended then
  if from ~= state then call('SET', 'job:state:' .. id, state) end
else
  call('SET', 'job:state:' .. id, state, 'EX', ENDED_SECONDS)
  call('EXPIRE', meta, ENDED_SECONDS)
  if approval then call('EXPIRE', 'job:req:' .. id, ENDED_SECONDS) end
  if result ~= '' then call('SET', 'job:result_ptr:' .. id, result, 'EX', ENDED_SECONDS) end
  if job and not TERMINAL[from] then call('SREM', 'job:tenant:active:' .. of_tenant, id) end
  if of_worker ~= '' then
    local jobs = 'worker:jobs:' .. of_worker
    call('ZADD', jobs, updated, id)
    -- A few more than that do not matter; and what is left by a worker that is gone is retired.
    if updated % 16 == 0 then
      call('ZREMRANGEBYRANK', jobs, 0, -RECENT_MAX - 1)
      call('EXPIRE', jobs, ENDED_SECONDS)
    end
  end
end
if release == '1' then call('DEL', LEASE .. id) end
if mark ~= '' then
  call('SET', 'cordum:bus:processed:' .. mark, 1, 'EX', PROCESSED_SECONDS)
  if in_flight == '1' then call('DEL', INFLIGHT .. mark) end
end
if not more then return {'applied', from, old[CLASS]} end
)lua";

const char kApplyMoreScript[] = R"lua(
local now, opened, place, first_try = tonumber(take()), take(), take(), take()
if new[CLASS] ~= '' then enter_class(id, new[CLASS], place, first_try) end

local letter = take_list()
if #letter > 0 then keep_letter(unpack(letter)) end
local sequences = {}
for i, message in ipairs(take_list()) do sequences[i] = keep_message(OUTBOX, updated, message) end
local timers = take_list()
for i = 1, #timers, 3 do
  call('ZADD', TIMERS, timers[i + 1], timers[i])
  call('HSET', TIMER_PAYLOADS, timers[i], timers[i + 2])
end
local done = take_list()
if #done > 0 then
  call('ZREM', TIMERS, unpack(done))
  call('HDEL', TIMER_PAYLOADS, unpack(done))
end
local consumed = take()
if consumed ~= '' then
  call('ZREM', QUEUE, consumed)
  call('HDEL', MESSAGES, consumed)
end

local claimed = {}
local groups = tonumber(take())
if groups > 0 then return_expired_claims(now) end
for _ = 1, groups do
  local claim = claim_from(take_list(), now, opened)
  if claim then claimed[#claimed + 1] = claim end
end
return {'applied', from, old[CLASS], claimed, sequences}
)lua";

}  // namespace fairlead::store::redis
