-- The summary of a sale, or its dead letters with the states of their buyers.
-- ARGV: 3 "summary", or "dead".
-- PAYLOAD: nothing; or two a dead letter: sequence, ticket with its reason.
local m, trouble = load_state()
if not m then return trouble_answer(trouble) end
if ARGV[3] == 'dead' then return answer(m, redis.call('HGETALL', KEYS[7])) end
return answer(m)
