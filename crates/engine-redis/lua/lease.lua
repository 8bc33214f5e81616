-- A lease that at most one holder has, by the server's clock.
--
-- KEYS: 1 lease  string  "<until> <holder>"; {seckill}:lease:<name>
-- ARGV: 1 moment given instead of the server's clock (tests only; else empty), 2 holder, 3 milliseconds: take or renew for so long; 0: give
--   back; empty: only look; 4 longest lease: one that lies further ahead is from before the clock went back, and over.
-- ANSWERS: who holds it afterwards, or nothing.
-- INVARIANTS: SET takes a key of any type, so no write fails. The key ends by itself once the lease can be over for sure.
local function int(number) return string.format('%.0f', number) end
local time = redis.call('TIME')
local now = tonumber(ARGV[1]) or tonumber(time[1]) * 1000 + math.floor(tonumber(time[2]) / 1000)
local longest = tonumber(ARGV[4])
local kept = redis.call('TYPE', KEYS[1]).ok == 'string' and redis.call('GET', KEYS[1]) or ''
local till, holder = string.match(kept, '^(%d+) (.*)$')
local ahead = till and tonumber(till) - now or 0
if ahead <= 0 or longest < ahead then holder = nil end
if ARGV[3] == '' or (holder and holder ~= ARGV[2]) then return holder or false end
if ARGV[3] == '0' then
  redis.call('DEL', KEYS[1])
  return false
end
redis.call('SET', KEYS[1], int(now + tonumber(ARGV[3])) .. ' ' .. ARGV[2], 'PX', int(longest * 2))
return ARGV[2]
