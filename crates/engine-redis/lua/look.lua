-- The summary of a sale, or its dead letters with the states of their buyers, or whether the state can be used.
-- ARGV: 3 "summary", "dead", or "condition".
-- PAYLOAD: nothing; or two a dead letter: sequence, ticket with its reason; or "sound" or "doubtful". A state that is being built says when
--   its builder did something last.
local m, trouble, doubtful = load_state()
if ARGV[3] == 'condition' then
  if trouble == 'building' or trouble == 'filled' then return { trouble, int(now), {}, { int(read_meta().newest) } } end
  if m or doubtful then return answer(m or doubtful, { m and 'sound' or 'doubtful' }) end
end
if not m then return trouble_answer(trouble) end
if ARGV[3] == 'dead' then return answer(m, redis.call('HGETALL', KEYS[7])) end
return answer(m)
