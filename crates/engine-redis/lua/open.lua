-- Builds the state of a sale in steps, so that a large one blocks the server only for a part at a time; nobody is admitted before the last.
-- ARGV: 3 step, 4 the builder's own word; then
--   begin: epoch, status, starts, ends, limit, left, next sequence, applied movement, epoch of the state that is given up or nothing;
--          of a split sale all shards, and all of this but the units, which are the shard's own
--   add:   five a buyer: user, buyer's record, place (q(ueue) d(ead) or - ), ticket as in back, reason
--   filled: nothing; a shard of a split sale waits for the others
--   built: nothing
--   finish: nothing; `built` by anybody, for a shard that is filled while the first is built
-- PAYLOAD: "created", "exists", "begun", "added", "filled", or "lost" where another builder has begun anew.
-- A state that another builder left half built is thrown away by `begin`; one whose meta alone is lost is not: it holds what the ledger
-- may not know. A whole one gives way only where its epoch is named, and from `begin` on: what only it knew is with the builder.
local step, builder = ARGV[3], ARGV[4]
local m, trouble = read_meta()
if step == 'begin' then
  if m and m.shards ~= shards then return trouble_answer('split' .. int(m.shards)) end
  if m and m.built == 1 then
    if not is_whole(m) then return trouble_answer('damaged') end
    if ARGV[13] ~= int(m.epoch) then return answer(m, { 'exists' }) end
  end
  if not m and trouble ~= 'none' then return trouble_answer(trouble) end
  redis.call('UNLINK', unpack(KEYS))
  m = {}
  for _, name in ipairs(NUMBERS) do m[name] = 0 end
  m.epoch, m.status, m.starts, m.ends = tonumber(ARGV[5]), ARGV[6], tonumber(ARGV[7]), tonumber(ARGV[8])
  m.limit, m.left, m.next, m.movement = tonumber(ARGV[9]), tonumber(ARGV[10]), tonumber(ARGV[11]), tonumber(ARGV[12])
  m.held_at, m.resumes_at, m.cursor, m.builder = '', '', '0-0', builder
  m.shards, m.out, m.credited = shards, '', ''
  redis.call('XGROUP', 'CREATE', KEYS[3], GROUP, '0', 'MKSTREAM')
  save(m)
  return answer(m, { 'begun' })
end
if not m then return trouble_answer(trouble) end
if step == 'finish' and m.built == 1 then return answer(m, { 'created' }) end
if m.builder ~= builder or step == 'finish' and m.built ~= 2 then return answer(m, { 'lost' }) end
if step == 'filled' then
  m.built = 2
  save(m)
  return answer(m, { 'filled' })
end
if step == 'built' or step == 'finish' then
  m.built = 1
  save(m)
  return answer(m, { 'created' })
end
for at = 5, #ARGV, 5 do
  local user, record, place, ticket, reason = ARGV[at], ARGV[at + 1], ARGV[at + 2], ARGV[at + 3], ARGV[at + 4]
  if redis.call('HSETNX', KEYS[2], user, record) == 1 then
    local quantity, sequence = string.match(record, '^%S+ (%d+) (%d+) ')
    quantity, sequence = tonumber(quantity), tonumber(sequence)
    m.buyers = m.buyers + 1
    m.accepted = m.accepted + quantity
    m.next = math.max(m.next, sequence + 1)
    if place == 'q' then
      redis.call('HSET', KEYS[4], padded(sequence), ticket)
      redis.call('ZADD', KEYS[5], 0, padded(sequence))
      redis.call('ZADD', KEYS[6], int(sequence), padded(sequence))
      m.back, m.tickets, m.queued = m.back + 1, m.tickets + 1, m.queued + quantity
    elseif place == 'd' then
      redis.call('HSET', KEYS[7], padded(sequence), ticket .. ' ' .. reason)
      m.dead_tickets, m.dead = m.dead_tickets + 1, m.dead + quantity
    end
  end
end
save(m)
return answer(m, { 'added' })
