// The scripts' parts that know waiting classes.
//
// A class is two sorted sets of jobs by their place in line: those that wait and those of them that
// are claimed. All claims stand in one sorted set by their end, all classes in one by the time at
// which the clock tries them next.
#include "store/redis/scripts.h"

namespace fairlead::store::redis {

const char kClassPart[] = R"lua(
local WAITING = 'fairlead:waiting:'
local CLAIMED = 'fairlead:claimed:'
local CLAIMS = 'fairlead:claims'
local CLASSES = 'fairlead:classes'
local CLASS_NAMES = 'fairlead:class:names'
local CLASS_COUNTS = 'fairlead:class:counts'
local CLASS_DISPATCHED = 'fairlead:class:dispatched'
local CLASS_MISSED = 'fairlead:class:missed'

-- `next_class` is where it goes from here, if anywhere; `dispatched`: when it went to a worker.
local function leave_class(id, class, next_class, dispatched)
  if call('ZREM', WAITING .. class, id) == 0 then
    call('ZREM', CLAIMS, id)
    if call('ZREM', CLAIMED .. class, id) == 0 then return end
  end
  if dispatched then call('HSET', CLASS_DISPATCHED, class, dispatched) end
  if call('HINCRBY', CLASS_COUNTS, class, -1) > 0 or class == next_class then return end
  call('ZREM', CLASSES, class)
  call('ZREM', CLASS_NAMES, class)
  call('HDEL', CLASS_COUNTS, class)
  call('HDEL', CLASS_DISPATCHED, class)
  call('SREM', CLASS_MISSED, class)
end

local function enter_class(id, class, place, first_try)
  if call('HINCRBY', CLASS_COUNTS, class, 1) == 1 then call('ZADD', CLASS_NAMES, 0, class) end
  call('ZADD', WAITING .. class, place, id)
  local first = call('ZRANGE', WAITING .. class, 0, 1)
  if first[1] == id and call('EXISTS', CLAIMED .. class) == 0 then
    -- Who steps before others does not put off their turn.
    local due = first[2] and call('ZSCORE', CLASSES, class)
    if not due or tonumber(first_try) < tonumber(due) then call('ZADD', CLASSES, first_try, class) end
  end
end
)lua";

const char kClaimPart[] = R"lua(
local function unclaim(id, next_try)
  if call('ZREM', CLAIMS, id) == 0 then return end
  local packed = fields_of(META .. id, 'fl_places')[1]
  local places = packed and read_places(packed)
  local class = places and places[CLASS]
  local place = class and class ~= '' and call('ZSCORE', CLAIMED .. class, id)
  if not place then return end
  call('ZREM', CLAIMED .. class, id)
  call('ZADD', WAITING .. class, place, id)
  -- Who missed it may still have room: then it is due at once.
  if call('SREM', CLASS_MISSED, class) == 1 then next_try = 0 end
  call('ZADD', CLASSES, next_try, class)
end

local function return_expired_claims(now)
  for _, id in ipairs(call('ZRANGEBYSCORE', CLAIMS, '-inf', whole(now), 'LIMIT', 0, 100)) do
    unclaim(id, whole(now))
  end
end

-- Whether it still waits there; one that does not leaves.
local function waits_in(id, class)
  local job = look_at(id, read_guard)
  if job and places_of(job)[CLASS] == class then return true end
  leave_class(id, class)
  return false
end

local function claim(id, class, place, now, opened)
  call('ZREM', WAITING .. class, id)
  call('ZADD', CLAIMED .. class, place, id)
  call('ZADD', CLAIMS, whole(now + CLAIM_TTL), id)
  return {id, class, call('HGET', CLASS_DISPATCHED, class) or opened}
end

-- The longest wait of the classes.
local function claim_from(classes, now, opened)
  while true do
    local longest, longest_place, its_class
    for _, class in ipairs(classes) do
      local id, place = unpack(call('ZRANGE', WAITING .. class, 0, 0, 'WITHSCORES'))
      if not id then
        if call('EXISTS', CLAIMED .. class) == 1 then
          go_on_when_full()
          call('SADD', CLASS_MISSED, class)
        end
      elseif not longest or tonumber(place) < tonumber(longest_place)
        or (place == longest_place and id < longest) then
        longest, longest_place, its_class = id, place, class
      end
    end
    if not longest then return nil end
    if waits_in(longest, its_class) then
      return claim(longest, its_class, longest_place, now, opened)
    end
  end
end

-- The first of the first class whose time has come.
local function claim_due(now, opened)
  while true do
    local class = call('ZRANGEBYSCORE', CLASSES, '-inf', whole(now), 'LIMIT', 0, 1)[1]
    if not class then return nil end
    go_on_when_full()
    call('ZADD', CLASSES, whole(now + CLAIM_TTL), class)
    local id, place = unpack(call('ZRANGE', WAITING .. class, 0, 0, 'WITHSCORES'))
    if id and waits_in(id, class) then return claim(id, class, place, now, opened) end
    if id then call('ZADD', CLASSES, 'XX', whole(now), class) end
  end
end
)lua";

}  // namespace fairlead::store::redis
