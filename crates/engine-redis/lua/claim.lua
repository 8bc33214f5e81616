-- Decides up to 256 claims of one sale, in order; a later one sees the earlier one's outcome.
-- ARGV: 3 tickets that the queue may hold of this sale, 4 number of claims, then the users of all, then three a claim: quantity, the
--   beginning of his record ("key quantity "), and his line in the stream's entry ("user quantity key request_id"). The caller writes
--   both out: a string that is made here costs everybody.
-- PAYLOAD: the sequence of the first who is admitted, the next one's is one more; then one text a claim: "+" admitted, "=<buyer>" the same request again, "t<buyer>" took before, "k" key reused,
--   "p<moment or nothing>" paused, "n" not started, "e" ended, "l" above the limit, "s" sold out, "b" backlog full.
-- WRITES: one stream entry for all winners (first: where its id is refused, nothing has changed), their buyers, meta.
local m, trouble = load_state(true)
if not m then return trouble_answer(trouble) end
local room = tonumber(ARGV[3])
local count = tonumber(ARGV[4])
local spoiled = false
local found = redis.call('HMGET', KEYS[2], unpack(ARGV, 5, 4 + count))

-- Why nobody at all is admitted now.
local function shut()
  if m.status == 'closed' then return 'e' end
  if m.status ~= 'running' then return 'p' end
  if m.held_at ~= '' then return 'p' .. m.resumes_at end
  if now < m.starts then return 'n' end
  if m.ends <= now then return 'e' end
end

-- The answer to somebody who has a record: the same request again, or another one.
local function again(earlier, head, is_shut)
  if not string.find(earlier, '^%S+ %d+ %d+ %d+ %d+ %a$') then spoiled = true end
  if string.sub(earlier, 1, #head) == head then return '=' .. earlier end
  if string.match(earlier, '^%S+') == string.match(head, '^%S+') then return 'k' end
  return is_shut or 't' .. earlier
end

local quantities = {}
local function quantity_of(text)
  local quantity = natural(text)
  if quantity and quantity < 1 then quantity = nil end
  quantities[text] = quantity
  return quantity
end

local is_shut, limit, left, tickets, sequence, units = shut(), m.limit, m.left, m.tickets, m.next, 0
local tail = ' ' .. int(m.epoch) .. ' ' .. int(now) .. ' q'
local winners, records, took, answers, won = {}, {}, {}, { int(sequence) }, 0
for claim = 1, count do
  local at = 2 + count + 3 * claim
  local user, head = ARGV[4 + claim], ARGV[at + 1]
  local quantity = quantities[ARGV[at]] or quantity_of(ARGV[at])
  if not quantity then return redis.error_reply('ERR a quantity is no natural number') end
  local earlier = took[user] or found[claim]
  if earlier then
    answers[claim + 1] = again(earlier, head, is_shut)
  elseif is_shut then
    answers[claim + 1] = is_shut
  elseif limit < quantity then
    answers[claim + 1] = 'l'
  elseif left < quantity then
    answers[claim + 1] = 's'
  elseif room <= tickets then
    answers[claim + 1] = 'b'
  else
    local record = head .. int(sequence) .. tail
    won = won + 1
    winners[won] = ARGV[at + 2]
    records[2 * won - 1], records[2 * won] = user, record
    took[user] = record
    sequence, left, units, tickets = sequence + 1, left - quantity, units + quantity, tickets + 1
    answers[claim + 1] = '+'
  end
end
if spoiled then return spoil() end
if 0 < won then
  local id = int(m.next) .. '-' .. int(won)
  redis.call('XADD', KEYS[3], id, 'epoch', int(m.epoch), 'at', int(now), 'winners', table.concat(winners, '\n'))
  redis.call('HSET', KEYS[2], unpack(records))
  if m.entries == 0 then m.first, m.first_at = m.next, now end
  if m.fresh_at == 0 then m.fresh_at = now end
  m.next, m.left, m.tickets = sequence, left, tickets
  m.accepted, m.queued, m.buyers = m.accepted + units, m.queued + units, m.buyers + won
  m.entries = m.entries + 1
  m.newest = now
  save_some(m, 'left', 'next', 'accepted', 'queued', 'tickets', 'buyers', 'entries', 'first', 'first_at', 'fresh_at', 'newest')
end
return answer(m, answers)
