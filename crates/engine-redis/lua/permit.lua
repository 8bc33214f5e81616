-- One of so many permits of a key, by the server's clock.
--
-- KEYS: 1 permit  string  "<taken> <until>"; {p:<key in hex>}
-- ARGV: 1 moment given instead of the server's clock (tests only; else empty), 2 how many there are, 3 moment until which the key is remembered
--   where it is new.
-- ANSWERS: 1 taken, 0 none left or the moment is over.
-- INVARIANTS: SET takes a key of any type, so no write fails. The key ends by itself.
local function int(number) return string.format('%.0f', number) end
local time = redis.call('TIME')
local now = tonumber(ARGV[1]) or tonumber(time[1]) * 1000 + math.floor(tonumber(time[2]) / 1000)
local kept = redis.call('TYPE', KEYS[1]).ok == 'string' and redis.call('GET', KEYS[1]) or ''
local taken, till = string.match(kept, '^(%d+) (%d+)$')
taken, till = tonumber(taken), tonumber(till)
if not taken or till <= now then taken, till = 0, tonumber(ARGV[3]) end
if till <= now or tonumber(ARGV[2]) <= taken then return 0 end
redis.call('SET', KEYS[1], int(taken + 1) .. ' ' .. int(till), 'PX', int(till - now))
return 1
