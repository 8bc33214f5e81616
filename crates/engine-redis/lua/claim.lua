-- Decides up to 256 claims of one sale, in order; a later one sees the earlier one's outcome.
-- ARGV: 3 tickets that the queue may hold of this sale, then four a claim: user, key, quantity, request id.
-- PAYLOAD: one text a claim: "+<sequence>" admitted, "=<buyer>" the same request again, "t<buyer>" took before, "k" key reused,
--   "p<moment or nothing>" paused, "n" not started, "e" ended, "l" above the limit, "s" sold out, "b" backlog full.
-- WRITES: one stream entry for all winners (first: where its id is refused, nothing has changed), their buyers, meta.
local m, trouble = load_state()
if not m then return trouble_answer(trouble) end
local room = tonumber(ARGV[3])
local count = (#ARGV - 3) / 4
local users = {}
for claim = 1, count do users[claim] = ARGV[4 * claim] end
local found = redis.call('HMGET', KEYS[2], unpack(users))
local first = m.next
local winners, records, took, spoiled = {}, {}, {}, false

local function refusal(earlier, quantity)
  if m.status == 'closed' then return 'e' end
  if m.status ~= 'running' then return 'p' end
  if m.held_at ~= '' then return 'p' .. m.resumes_at end
  if now < m.starts then return 'n' end
  if m.ends <= now then return 'e' end
  if earlier then return 't' .. earlier end
  if m.limit < quantity then return 'l' end
  if m.left < quantity then return 's' end
  if room <= m.tickets then return 'b' end
end

local function decide(user, key, quantity, request_id, earlier)
  if earlier then
    local his_key, his_quantity = string.match(earlier, '^(%S+) (%d+) %d+ %d+ %d+ %a$')
    if not his_key then spoiled = true end
    if his_key == key then
      return tonumber(his_quantity) == quantity and '=' .. earlier or 'k'
    end
  end
  local refused = refusal(earlier, quantity)
  if refused then return refused end
  local sequence = m.next
  local buyer = key .. ' ' .. int(quantity) .. ' ' .. int(sequence) .. ' ' .. int(m.epoch) .. ' ' .. int(now) .. ' q'
  winners[#winners + 1] = user .. ' ' .. int(quantity) .. ' ' .. key .. ' ' .. request_id
  records[#records + 1] = user
  records[#records + 1] = buyer
  took[user] = buyer
  m.next = sequence + 1
  m.left = m.left - quantity
  m.accepted = m.accepted + quantity
  m.queued = m.queued + quantity
  m.tickets = m.tickets + 1
  m.buyers = m.buyers + 1
  return '+' .. int(sequence)
end

local answers = {}
for claim = 1, count do
  local at = 4 * claim
  local quantity = natural(ARGV[at + 2])
  if not quantity or quantity < 1 then return redis.error_reply('ERR a quantity is no natural number') end
  answers[claim] = decide(ARGV[at], ARGV[at + 1], quantity, ARGV[at + 3], took[ARGV[at]] or found[claim])
end
if spoiled then return spoil() end
if 0 < #winners then
  local id = int(first) .. '-' .. int(#winners)
  redis.call('XADD', KEYS[3], id, 'epoch', int(m.epoch), 'at', int(now), 'winners', table.concat(winners, '\n'))
  redis.call('HSET', KEYS[2], unpack(records))
  if m.entries == 0 then m.first, m.first_at = first, now end
  if m.fresh_at == 0 then m.fresh_at = now end
  m.entries = m.entries + 1
  m.newest = now
  save(m)
end
return answer(m, answers)
