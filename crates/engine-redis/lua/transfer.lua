-- Moves unsold units from one shard of a sale to another, in three steps that anybody may do again: each is done once.
--
--   giver: debit ──▶ taker: credit ──▶ giver: clear        between debit and clear the units stand in the giver's `out`
--
-- ARGV: 3 step; then
--   debit:  shard of the taker, units, units that stay, "open" where the sale must admit (else it is moved in any state)
--   credit: id, shard of the giver, units, builder of the giver's state, its epoch
--   clear:  id, builder and epoch of the state that noted it
-- PAYLOAD: debit: "debited", "none" (nothing to spare) or "busy" (units of an earlier debit are still on their way); the summary tells which.
--   credit: "credited" (now or before), "foreign" (the taker's state is of another build: units that it was built with would be there
--   twice), or "older" (the giver was read before the sale was confirmed, and may have forgotten this debit). clear: nothing.
-- Ids of a giver ascend, and it has one debit on its way at a time; so a taker that knows the last id of each giver credits each once.
local m, trouble = load_state()
if not m then return trouble_answer(trouble) end
local step = ARGV[3]
if step == 'debit' then
  if m.out ~= '' then return answer(m, { 'busy' }) end
  if ARGV[7] == 'open' and (m.status ~= 'running' or m.held_at ~= '') then return answer(m, { 'none' }) end
  local units = math.min(tonumber(ARGV[5]), m.left - tonumber(ARGV[6]))
  if units < 1 then return answer(m, { 'none' }) end
  m.transfers = m.transfers + 1
  m.out = int(m.transfers) .. ' ' .. ARGV[4] .. ' ' .. int(units)
  m.left = m.left - units
  save(m)
  return answer(m, { 'debited' })
end
if step == 'credit' then
  if m.builder ~= ARGV[7] then return answer(m, { 'foreign' }) end
  if tonumber(ARGV[8]) < m.epoch then return answer(m, { 'older' }) end
  local id, giver = tonumber(ARGV[4]), tonumber(ARGV[5])
  local last = {}
  for text in string.gmatch(m.credited, '%d+') do last[#last + 1] = tonumber(text) end
  for shard = #last, m.shards - 1 do last[shard + 1] = 0 end
  if id <= last[giver + 1] then return answer(m, { 'credited' }) end
  last[giver + 1] = id
  for shard, known in ipairs(last) do last[shard] = int(known) end
  m.credited = table.concat(last, ' ')
  m.left = m.left + tonumber(ARGV[6])
  m.transfers = m.transfers + 1
  save(m)
  return answer(m, { 'credited' })
end
if step == 'clear' then
  if string.match(m.out, '^%d+') == ARGV[4] and m.builder == ARGV[5] and int(m.epoch) == ARGV[6] then
    m.out = ''
    save(m)
  end
  return answer(m)
end
return redis.error_reply('ERR no such step')
