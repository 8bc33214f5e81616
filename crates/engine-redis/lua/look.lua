-- The summary of a sale, or its dead letters with the states of their buyers, or whether the state can be used.
-- ARGV: 3 "summary", "dead", "condition", or "buyer" and 4 the user.
-- PAYLOAD: nothing; or the buyer's record, empty where there is none (nobody can say that while tickets of a lost state are taken up); or
--   two a dead letter: sequence, ticket with its reason; or "sound" or "doubtful", and the last debit of each other shard that this one has
--   the units of. A state that is being built says when its builder did something last; one of another sale its epoch and its shards.
local m, trouble, doubtful = load_state()
if ARGV[3] == 'condition' then
  if trouble == 'preheating' or trouble == 'building' or trouble == 'filled' then
    return { trouble, int(now), {}, { int(read_meta().newest) } }
  end
  if trouble == 'another' then
    local other = read_meta()
    return { trouble, int(now), {}, { int(other.epoch), int(other.shards) } }
  end
  local whole = m or doubtful
  if whole then return answer(whole, { m and 'sound' or 'doubtful', whole.credited }) end
end
if not m then return trouble_answer(trouble) end
if ARGV[3] == 'buyer' then
  local record = redis.call('HGET', KEYS[2], ARGV[4])
  if not record and is_grace(m) then return trouble_answer('grace') end
  return answer(m, { record or '' })
end
if ARGV[3] == 'dead' then return answer(m, redis.call('HGETALL', KEYS[7])) end
return answer(m)
