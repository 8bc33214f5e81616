-- Decides up to 256 claims of one sale, in order; a later one sees the earlier one's outcome.
-- ARGV: 3 tickets that the queue may hold of this sale, 4 number of claims, 5 the quantity of all, or nothing where they differ; then the
--   users of all, then the beginnings of their records ("key quantity "), then one text with a line a claim, as it stands in the stream's
--   entry ("user quantity key request_id"). The caller writes all out: a string that is made here costs everybody.
-- PAYLOAD: the sequence of the first who is admitted, the next one's is one more; then a text with a line a claim: "+" admitted, "=<buyer>"
--   the same request again, "t<buyer>" took before, "k" key reused, "p<moment or nothing>" paused, "n" not started, "e" ended, "l" above the
--   limit, "s" sold out, "b" backlog full.
-- WRITES: one stream entry for all winners (first: where its id is refused, nothing has changed), their buyers, meta.
local m, trouble = load_state(true)
if not m then return trouble_answer(trouble) end
local room = tonumber(ARGV[3])
local count = tonumber(ARGV[4])
local spoiled = false
local found = redis.call('HMGET', KEYS[2], unpack(ARGV, 6, 5 + count))

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

-- The lines of those who were admitted.
local function lines_of(is_winner, won)
  local all, lines, claim = ARGV[6 + 2 * count], {}, 0
  if won == count then return all end
  for line in string.gmatch(all, '[^\n]+') do
    claim = claim + 1
    if is_winner[claim] then lines[#lines + 1] = line end
  end
  return table.concat(lines, '\n')
end

local is_shut, limit, left, tickets, sequence = shut(), m.limit, m.left, m.tickets, m.next
local tail = ' ' .. int(m.epoch) .. ' ' .. int(now) .. ' q'
local records, took, is_winner, answers, won = {}, {}, {}, {}, 0
local same = natural(ARGV[5])
for claim = 1, count do
  local user, head = ARGV[5 + claim], ARGV[5 + count + claim]
  local quantity = same or natural(string.match(head, ' (%d+) $'))
  if not quantity or quantity < 1 then return redis.error_reply('ERR a quantity is no natural number') end
  local earlier = took[user] or found[claim]
  local said = '+'
  if earlier then
    said = again(earlier, head, is_shut)
  elseif is_shut then
    said = is_shut
  elseif limit < quantity then
    said = 'l'
  elseif left < quantity then
    said = 's'
  elseif room <= tickets then
    said = 'b'
  else
    -- Lua writes whole numbers below 10^14 out as they are, for half of what int costs.
    local record = head .. (sequence < 1e14 and sequence or int(sequence)) .. tail
    won = won + 1
    records[2 * won - 1], records[2 * won] = user, record
    took[user], is_winner[claim] = record, true
    sequence, left, tickets = sequence + 1, left - quantity, tickets + 1
  end
  answers[claim] = said
end
if spoiled then return spoil() end
local first, units = int(m.next), m.left - left
if 0 < won then
  local id = first .. '-' .. int(won)
  redis.call('XADD', KEYS[3], id, 'epoch', int(m.epoch), 'at', int(now), 'winners', lines_of(is_winner, won))
  redis.call('HSET', KEYS[2], unpack(records))
  if m.entries == 0 then m.first, m.first_at = m.next, now end
  if m.fresh_at == 0 then m.fresh_at = now end
  m.next, m.left, m.tickets = sequence, left, tickets
  m.accepted, m.queued, m.buyers = m.accepted + units, m.queued + units, m.buyers + won
  m.entries = m.entries + 1
  m.newest = now
  save_some(m, 'left', 'next', 'accepted', 'queued', 'tickets', 'buyers', 'entries', 'first', 'first_at', 'fresh_at', 'newest')
end
return answer(m, { first, table.concat(answers, '\n') })
