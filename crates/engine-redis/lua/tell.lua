-- Which switches wait for their turn at which node. They are no part of a sale: whoever loses them hears of them again.
--
-- KEYS: 1 waiting  hash  node -> "<until> <text>"; {seckill}:waiting
-- ARGV: 1 moment given instead of the server's clock (tests only; else empty), 2 node, 3 what waits there, or empty: nothing, 4 milliseconds
--   for which it counts: what lies further ahead is from before the clock went back, and over.
-- ANSWERS: what waits at other nodes.
-- INVARIANTS: a key of another type is removed first, so no write fails.
local function int(number) return string.format('%.0f', number) end
local time = redis.call('TIME')
local now = tonumber(ARGV[1]) or tonumber(time[1]) * 1000 + math.floor(tonumber(time[2]) / 1000)
local longest = tonumber(ARGV[4])
local kind = redis.call('TYPE', KEYS[1]).ok
if kind ~= 'hash' and kind ~= 'none' then redis.call('DEL', KEYS[1]) end
local said = redis.call('HGETALL', KEYS[1])
local others = {}
for at = 1, #said, 2 do
  local till, text = string.match(said[at + 1], '^(%d+) (.*)$')
  local ahead = till and tonumber(till) - now or 0
  if ahead <= 0 or longest < ahead then
    redis.call('HDEL', KEYS[1], said[at])
  elseif said[at] ~= ARGV[2] then
    others[#others + 1] = text
  end
end
if ARGV[3] ~= '' then
  redis.call('HSET', KEYS[1], ARGV[2], int(now + longest) .. ' ' .. ARGV[3])
else
  redis.call('HDEL', KEYS[1], ARGV[2])
end
return others
