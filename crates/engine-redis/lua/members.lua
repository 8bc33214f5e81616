-- What nodes know of one another. It is no part of a sale: whoever loses it has it back with the next beats.
--
-- KEYS, all with the tag {seckill}:
--   1 members  hash    id -> what the member said, as JSON
--   2 beats    zset    id by the moment of its last beat
-- ARGV: 1 moment given instead of the server's clock (tests only; else empty), 2 what; then
--   beat:  id, what it says, age from which members are forgotten
--   leave: id
--   list:  age from which members are not listed; beats from before the clock went back are not, either
-- ANSWERS: {moment}; of list {moment, then beat and JSON of each}.
-- INVARIANTS: both keys are of their types before the first write, and scores are canonical numbers, so no write fails. A member counts
--   where it has a beat and a text.
local FORGOTTEN_MAX = 100
local function int(number) return string.format('%.0f', number) end
for place, kind in ipairs({ 'hash', 'zset' }) do
  local found = redis.call('TYPE', KEYS[place]).ok
  if found ~= kind and found ~= 'none' then return redis.error_reply('WRONGTYPE ' .. KEYS[place]) end
end
local time = redis.call('TIME')
local now = tonumber(ARGV[1]) or tonumber(time[1]) * 1000 + math.floor(tonumber(time[2]) / 1000)
local function drop(ids)
  if #ids == 0 then return end
  redis.call('ZREM', KEYS[2], unpack(ids))
  redis.call('HDEL', KEYS[1], unpack(ids))
end
local what = ARGV[2]
if what == 'beat' then
  redis.call('HSET', KEYS[1], ARGV[3], ARGV[4])
  redis.call('ZADD', KEYS[2], int(now), ARGV[3])
  drop(redis.call('ZRANGEBYSCORE', KEYS[2], '-inf', int(now - tonumber(ARGV[5])), 'LIMIT', 0, FORGOTTEN_MAX))
  return { int(now) }
elseif what == 'leave' then
  drop({ ARGV[3] })
  return { int(now) }
elseif what ~= 'list' then
  return redis.error_reply('ERR no such thing')
end
local answer = { int(now) }
local beats = redis.call('ZRANGEBYSCORE', KEYS[2], '(' .. int(now - tonumber(ARGV[3])), int(now), 'WITHSCORES')
for at = 1, #beats, 2 do
  local said = redis.call('HGET', KEYS[1], beats[at])
  if said then
    answer[#answer + 1] = beats[at + 1]
    answer[#answer + 1] = said
  end
end
return answer
