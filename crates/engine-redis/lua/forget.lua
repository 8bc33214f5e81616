-- Drops the state of a sale, whole or not.
-- KEYS: 8 to 14 as in aside.lua. ARGV: none of its own. PAYLOAD: nothing.
redis.call('UNLINK', unpack(KEYS))
return { 'none', int(now) }
