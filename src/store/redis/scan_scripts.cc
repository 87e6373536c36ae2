// The scripts that go through many jobs: pages of a scan, and retention.
#include "store/redis/scripts.h"

namespace fairlead::store::redis {

// Pages of sorted sets of jobs, merged by score and id. What it visits is told with its place; a
// member whose job is gone, or is no longer what the set says, is dropped from the set. Of those
// that are wanted by their fields it tells up to a limit, and visits up to another.
const char kScanScript[] = R"lua(
local sets, forwards, state = take_list(), take() == '1', take()
local at, last, bound, limit = take(), take(), take(), tonumber(take())
local wanted, most = take_list(), tonumber(take())
local behind = at ~= '' and tonumber(at)

local function is_behind(id, score)
  if not behind or last == '' or score ~= behind then return true end
  if forwards then return id > last end
  return id < last
end

local entries, more = {}, 0
local function read(set)
  local from, to = at, bound
  if at == '' then from = forwards and '-inf' or '+inf' end
  local offset, found = 0, 0
  while found < most do
    local page = call(forwards and 'ZRANGEBYSCORE' or 'ZREVRANGEBYSCORE', set, from, to,
      'WITHSCORES', 'LIMIT', offset, most)
    for i = 1, #page, 2 do
      local score = tonumber(page[i + 1])
      if found < most and is_behind(page[i], score) then
        found = found + 1
        entries[#entries + 1] = {page[i], score, set}
      end
    end
    if #page < 2 * most then return end
    offset = offset + most
  end
  more = 1
end
for _, set in ipairs(sets) do read(set) end
if #sets > 1 then
  table.sort(entries, function(a, b)
    if a[2] ~= b[2] then return (a[2] < b[2]) == forwards end
    return a[1] ~= b[1] and (a[1] < b[1]) == forwards
  end)
end

local function is_wanted(id)
  for i = 1, #wanted, 2 do
    if fields_of(META .. id, wanted[i])[1] ~= wanted[i + 1] then return false end
  end
  return true
end

local found, told = {}, 0
for i = 1, math.min(most, #entries) do
  local id, score, set = unpack(entries[i])
  found[i] = {id, whole(score)}
  if is_wanted(id) then
    local job = look_at(id, read_record)
    local stands = job and (state == '' or index_of(job[STATE]) == set)
    if not stands then call('ZREM', set, id) end
    found[i][3] = stands and bundle(id, job, false)
    told = told + 1
    if told == limit then break end
  end
end
if #entries > #found then more = 1 end
return {found, more}
)lua";

// Drops ended jobs whose time is over, and dead letters. Then goes through some of the live jobs
// that have not changed for a while, from where it was the last time: those that a Go service wrote
// are taken notice of, and members whose job is gone leave.
const char kRetireScript[] = R"lua(
local ended_before, letters_before, limit = take(), take(), tonumber(take())
local live_before, live_index, live_after = take(), tonumber(take()), take()
local gone = 0

local function retire(id, index)
  local job = fields_of(META .. id, 'state', 'updated_at', 'trace_id', 'worker_id')
  call('ZREM', index, id)
  -- One that has changed since stands in another index, or there by a later time.
  if job[1] and (index_of(job[1]) ~= index
                 or (tonumber(job[2] or '') or 0) > tonumber(ended_before)) then
    return
  end
  call('DEL', META .. id, 'job:state:' .. id, 'job:req:' .. id, 'job:result_ptr:' .. id,
    'job:events:' .. id, 'job:decisions:' .. id, 'job:' .. id .. ':output_decision')
  call('ZREM', 'job:recent', id)
  if job[3] then call('SREM', 'trace:' .. job[3], id) end
  if job[4] then call('ZREM', 'worker:jobs:' .. job[4], id) end
end

for _, state in ipairs(ENDED) do
  local index = index_of(state)
  for _, id in ipairs(call('ZRANGEBYSCORE', index, '-inf', ended_before, 'LIMIT', 0, limit - gone)) do
    retire(id, index)
    gone = gone + 1
  end
end
for _, job in ipairs(call('ZRANGEBYSCORE', 'dlq:index', '-inf', letters_before, 'LIMIT', 0,
                          limit - gone)) do
  call('ZREM', 'dlq:index', job)
  call('DEL', 'dlq:entry:' .. job)
  gone = gone + 1
end

local visits = limit - gone
while visits > 0 and live_index <= #LIVE do
  local index = index_of(LIVE[live_index])
  local page = call('ZRANGEBYSCORE', index, live_after, live_before, 'WITHSCORES', 'LIMIT', 0, visits)
  for i = 1, #page, 2 do
    local job = look_at(page[i], read_guard)
    -- Some writes of Go services give a live job a time to live and change nothing else.
    if job then call('PERSIST', META .. page[i]) else call('ZREM', index, page[i]) end
    if not job or job.changed then gone = gone + 1 end
    live_after = '(' .. page[i + 1]
  end
  visits = visits - #page / 2
  if visits > 0 then
    live_index = live_index + 1
    live_after = '-inf'
  end
end
if live_index > #LIVE then live_index = 1 end
return {gone, live_index, live_after}
)lua";

}  // namespace fairlead::store::redis
