-- Drops the state of a sale, whole or not.
-- ARGV: none of its own. PAYLOAD: nothing.
redis.call('UNLINK', unpack(KEYS))
return { 'none', int(now) }
