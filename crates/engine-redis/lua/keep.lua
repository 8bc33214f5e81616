-- Keeps switches for the ledger in the place of others, unless somebody else has had others kept meanwhile.
--
-- KEYS: 1 switches  string  their text, or empty; {seckill}:switches
-- ARGV: 1 what was seen to be kept, 2 what is to be; empty: nothing.
-- ANSWERS: what is kept afterwards.
-- INVARIANTS: SET takes a key of any type, so no write fails.
local kept = redis.call('TYPE', KEYS[1]).ok == 'string' and redis.call('GET', KEYS[1]) or ''
if kept == ARGV[2] or kept ~= ARGV[1] then return kept end
redis.call('SET', KEYS[1], ARGV[2])
return ARGV[2]
