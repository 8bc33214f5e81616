-- One step of a walk over a hash. Its cursor means something in one life of one server alone: each arranges its hashes by a seed of its own.
-- KEYS: 1 the hash. ARGV: 1 cursor, 2 entries that the step is meant to have.
-- ANSWER: {life of the server, next cursor, {field, value, ...}}
local step = redis.call('HSCAN', KEYS[1], ARGV[1], 'COUNT', ARGV[2])
return { string.match(redis.call('INFO', 'server'), 'run_id:(%x+)'), step[1], step[2] }
