-- Builds the state of a sale in steps, so that a large one blocks the server only for a part at a time; nobody is admitted before the last.
-- ARGV: 3 step, 4 the builder's own word; then
--   begin: epoch, status, starts, ends, limit, left, next sequence, applied movement, epoch of the state that is given up or nothing, ms
--          for which the built state admits nobody and adopts, when the sale was created or nothing;
--          of a split sale all shards, and all of this but the units, which are the shard's own
--   add:   five a buyer: user, buyer's record, place (q(ueue) d(ead) or - ), ticket as in back, reason
--   filled: nothing; a shard of a split sale waits for the others
--   built: nothing
--   finish: nothing; `built` by anybody, for a shard that is filled while the first is built
-- PAYLOAD: "created", "exists", "begun", "added", "filled", or "lost" where another builder has begun anew.
-- A state that another builder left half built is thrown away by `begin`; what is left of one that was in use is not, for it holds what the
-- ledger may not know: seal.lua moves it aside first, and it is kept there until the new state is built. A whole one gives way only where
-- its epoch is named, and is kept aside likewise.
local step, builder = ARGV[3], ARGV[4]
local m, trouble = read_meta()
if step == 'begin' then
  if m and m.shards ~= shards then return trouble_answer('split' .. int(m.shards)) end
  if m and m.built == 1 then
    if not is_whole(m) then return trouble_answer('damaged') end
    if m.server ~= server() then return trouble_answer('doubtful') end
    if ARGV[13] ~= int(m.epoch) then return answer(m, { 'exists' }) end
    move_aside()
  elseif is_aside() then
    -- Only who gave up what lies aside knows what it holds, and his epoch is his own.
    if not m or int(m.epoch) ~= ARGV[5] then return trouble_answer('building') end
    drop_half_built()
  else
    if not m and trouble ~= 'none' then return trouble_answer(trouble) end
    if m and m.built == 3 then return trouble_answer('damaged') end
    drop_half_built()
  end
  m = blank(tonumber(ARGV[5]), builder)
  m.status, m.starts, m.ends = ARGV[6], tonumber(ARGV[7]), tonumber(ARGV[8])
  m.opens, m.created = tonumber(ARGV[14]), ARGV[15]
  m.limit, m.left, m.next, m.movement = tonumber(ARGV[9]), tonumber(ARGV[10]), tonumber(ARGV[11]), tonumber(ARGV[12])
  -- An operator's hold that the ledger may not know goes on.
  local held = redis.pcall('HMGET', KEYS[8], 'held_at', 'resumes_at')
  if not held.err and natural(held[1]) and (held[2] == '' or natural(held[2])) then m.held_at, m.resumes_at = held[1], held[2] end
  redis.call('XGROUP', 'CREATE', KEYS[3], GROUP, '0', 'MKSTREAM')
  save(m)
  return answer(m, { 'begun' })
end
if not m then return trouble_answer(trouble) end
if step == 'finish' and m.built == 1 then return answer(m, { 'created' }) end
-- A server that started anew meanwhile may have lost a part of what was added.
if m.builder ~= builder or m.server ~= server() or step == 'finish' and m.built ~= 2 then return answer(m, { 'lost' }) end
if step == 'filled' then
  m.built = 2
  save(m)
  return answer(m, { 'filled' })
end
if step == 'built' or step == 'finish' then
  m.built, m.newest, m.opens = 1, 0, 0 < m.opens and now + m.opens or 0
  save(m)
  redis.call('UNLINK', unpack(KEYS, 8, 14))
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
m.newest = now
save(m)
return answer(m, { 'added' })
