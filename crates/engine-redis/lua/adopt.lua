-- Offers tickets of a lost state to this one, all or none; each is taken up once.
-- ARGV: 3 nothing: they wait again, with a unit where one is left; "-": the same, and no other shard has a unit either; or the letter of their
--   final state, without units. Then seven a ticket: user, key, quantity, sequence, epoch, accepted at, request id.
-- PAYLOAD: one letter a ticket: w(aits, now or still), k(nown: final or dead, now or already), n(o unit), v(oid: its user has another one).
-- Whoever hears n for good has the ledger fail the ticket, so it gets no unit here any more, whoever else offers it and whatever comes back
--   meanwhile: the meta field "none:<sequence>" says so until it is final.
local m, trouble = load_state()
if not m then return trouble_answer(trouble) end
local state, is_last, SIZE = ARGV[3], ARGV[3] == '-', 7
if is_last then state = '' end
local users = {}
for at = 4, #ARGV, SIZE do users[#users + 1] = ARGV[at] end
local found = redis.call('HMGET', KEYS[2], unpack(users))
local took, answers = {}, {}

local function adopt(user, record, quantity, sequence, ticket)
  m.accepted, m.buyers, m.next = m.accepted + quantity, m.buyers + 1, math.max(m.next, sequence + 1)
  redis.call('HSET', KEYS[2], user, record)
  took[user] = record
  if state ~= '' then
    redis.call('HDEL', KEYS[1], 'none:' .. int(sequence))
    return 'k'
  end
  m.left, m.queued, m.tickets = m.left - quantity, m.queued + quantity, m.tickets + 1
  put_back(m, sequence, 'w', 0, 0, ticket, 0)
  return 'w'
end

local function offer(place, at)
  local user, key, quantity, sequence = ARGV[at], ARGV[at + 1], natural(ARGV[at + 2]), natural(ARGV[at + 3])
  local his = took[user] or found[place]
  if his then
    local his_sequence, his_state = string.match(his, '^%S+ %d+ (%d+) %d+ %d+ (%a)$')
    if tonumber(his_sequence) ~= sequence then
      -- It can have no unit any more, whatever the field says.
      redis.call('HDEL', KEYS[1], 'none:' .. int(sequence))
      return 'v'
    end
    return his_state == 'q' and 'w' or 'k'
  end
  local none = 'none:' .. int(sequence)
  if state == '' and redis.call('HGET', KEYS[1], none) then return 'n' end
  if state == '' and m.left < quantity then
    if is_last then redis.call('HSET', KEYS[1], none, '1') end
    return 'n'
  end
  local middle = ' ' .. ARGV[at + 4] .. ' ' .. ARGV[at + 5] .. ' '
  local record = key .. ' ' .. int(quantity) .. ' ' .. int(sequence) .. middle .. (state ~= '' and state or 'q')
  return adopt(user, record, quantity, sequence, user .. ' ' .. int(quantity) .. ' ' .. key .. middle .. ARGV[at + 6])
end

for place = 1, #users do
  local at = 4 + (place - 1) * SIZE
  if not natural(ARGV[at + 2]) or not natural(ARGV[at + 3]) then return redis.error_reply('ERR not a natural number') end
  if found[place] and not string.find(found[place], '^%S+ %d+ %d+ %d+ %d+ %a$') then return spoil() end
end
for place = 1, #users do answers[place] = offer(place, 4 + (place - 1) * SIZE) end
save(m)
return answer(m, answers)
