-- Drops the state of another sale that had the number of the one that the caller means, whole or not; any other state stays.
-- KEYS: 8 to 14 as in aside.lua. ARGV: none of its own. PAYLOAD: nothing.
local _, trouble = load_state()
if trouble == 'another' then redis.call('UNLINK', unpack(KEYS)) end
return { 'none', int(now) }
