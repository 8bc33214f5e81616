-- A permit of a rate that all nodes count together, by the server's clock: generic cell rate algorithm (ITU-T I.371, virtual scheduling).
--
-- KEYS: 1 rate  string  "<microsecond at which its debt is paid>"; {p:<whose>}:rate
-- ARGV: 1 moment given instead of the server's clock, in milliseconds (tests only; else empty), 2 microseconds from one permit to the next,
--   3 permits that may be taken at once.
-- ANSWERS: 0 where it was taken, else the microseconds until the next one can be. A refused request changes nothing.
-- INVARIANTS: SET takes a key of any type, so no write fails. The key ends by itself when the debt is paid. A debt larger than the rate can
--   make is none: it is from another rate, or from before the clock went back.
local function int(number) return string.format('%.0f', number) end
local time = redis.call('TIME')
local now = ARGV[1] ~= '' and tonumber(ARGV[1]) * 1000 or tonumber(time[1]) * 1000000 + tonumber(time[2])
local interval, burst = tonumber(ARGV[2]), tonumber(ARGV[3])
local kept = redis.call('TYPE', KEYS[1]).ok == 'string' and tonumber(redis.call('GET', KEYS[1])) or now
local debt = kept - now
if debt < 0 or interval * burst < debt then debt = 0 end
local tolerance = interval * (burst - 1)
if tolerance < debt then return debt - tolerance end
redis.call('SET', KEYS[1], int(now + debt + interval), 'PX', int(math.ceil((debt + interval) / 1000) + 1))
return 0
