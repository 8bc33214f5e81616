-- Records what a worker says of tickets, all or none. A ticket that is final already is left as it is, and
-- so is one in an entry of a later version.
-- ARGV: 3 lease in ms, 4 number of the settlement batch, then four a ticket: sequence, verdict, two words:
--   conclude: state (s, o or x), "sale" where its units go back to the sale
--   retry:    failed attempts, not before
--   give:     nothing, not before
--   bury:     reason, nothing
--   revive:   nothing, nothing: a dead letter goes back to the queue
-- PAYLOAD: nothing.
-- CHECKS: every ticket is found and every buyer read before the first write. An entry that any verdict touches ends here: acknowledged
-- and deleted, its tickets without a verdict put back as entries of their own, with their lease where they are with a worker.
local m, trouble = load_state()
if not m then return trouble_answer(trouble) end
local lease = tonumber(ARGV[3])
local found, touched, spoiled = {}, {}, false

local function parse(where, sequence, text)
  local flag, attempts, deliveries, rest = string.match(text, '^(%a) (%d+) (%d+) (.*)$')
  local user, quantity, key, epoch, at, request_id, reason =
    string.match(rest or '', '^(%S+) (%d+) (%S+) (%d+) (%d+) (%S+) ?(.*)$')
  if not user then
    spoiled = true
    return
  end
  found[sequence] = {
    sequence = sequence, where = where, flag = flag, attempts = tonumber(attempts), deliveries = tonumber(deliveries), user = user,
    quantity = tonumber(quantity), text = user .. ' ' .. quantity .. ' ' .. key .. ' ' .. epoch .. ' ' .. at .. ' ' .. request_id,
    reason = reason,
  }
end

local function touch(entry)
  local first, size = extent(entry)
  local cursor = tonumber(string.match(m.cursor, '^%d+'))
  local delivered = first <= cursor
  touched[#touched + 1] = { id = entry[1], first = first, size = size, delivered = delivered }
  for place, ticket in ipairs(tickets_of(entry)) do
    parse('entry', first + place - 1, (delivered and 'l 0 1 ' or 'w 0 0 ') .. ticket)
  end
end

local function find(sequence)
  if found[sequence] then return end
  local name = padded(sequence)
  local back = 0 < m.back and redis.call('HGET', KEYS[4], name)
  if back then return parse('back', sequence, back) end
  local dead = 0 < m.dead_tickets and redis.call('HGET', KEYS[7], name)
  if dead then return parse('dead', sequence, dead) end
  local entry = redis.call('XREVRANGE', KEYS[3], int(sequence), '-', 'COUNT', 1)[1]
  if not entry then return end
  local first, size = extent(entry)
  if sequence < first + size and not is_newer(entry) then touch(entry) end
end

local users, sequences = {}, {}
for at = 5, #ARGV, 4 do
  local sequence = natural(ARGV[at])
  if not sequence then return redis.error_reply('ERR a sequence is no natural number') end
  find(sequence)
  local ticket = found[sequence]
  if ticket then
    users[#users + 1] = ticket.user
    sequences[#sequences + 1] = sequence
  end
end
if spoiled then return spoil() end
local records = 0 < #users and redis.call('HMGET', KEYS[2], unpack(users)) or {}
local buyers = {}
for place, record in ipairs(records) do
  local his = record and tonumber(string.match(record, '^%S+ %d+ (%d+) '))
  if his == sequences[place] then buyers[users[place]] = record end
end

local function mark_buyer(ticket, state)
  local record = buyers[ticket.user]
  if record then redis.call('HSET', KEYS[2], ticket.user, string.sub(record, 1, -2) .. state) end
end

-- Takes a ticket out of where it is; the counters of its units follow.
local function remove(ticket)
  local name = padded(ticket.sequence)
  if ticket.where == 'dead' then
    redis.call('HDEL', KEYS[7], name)
    m.dead_tickets, m.dead = m.dead_tickets - 1, m.dead - ticket.quantity
    return
  end
  if ticket.where == 'back' then
    redis.call('HDEL', KEYS[4], name)
    redis.call('ZREM', KEYS[5], name)
    redis.call('ZREM', KEYS[6], name)
    m.back = m.back - 1
    if ticket.flag == 'l' then m.leased_back = m.leased_back - 1 end
  end
  m.tickets, m.queued = m.tickets - 1, m.queued - ticket.quantity
end

local function wait_again(ticket, attempts, due)
  remove(ticket)
  m.tickets, m.queued = m.tickets + 1, m.queued + ticket.quantity
  ticket.where, ticket.flag, ticket.attempts = 'back', 'w', attempts
  put_back(m, ticket.sequence, 'w', attempts, ticket.deliveries, ticket.text, due)
end

local VERDICTS = {
  conclude = function(ticket, state, unit_to)
    remove(ticket)
    if unit_to == 'sale' then m.left = m.left + ticket.quantity end
    mark_buyer(ticket, state)
    ticket.where = 'gone'
  end,
  retry = function(ticket, attempts, due)
    if ticket.where ~= 'dead' then wait_again(ticket, tonumber(attempts), tonumber(due)) end
  end,
  give = function(ticket, _, due)
    if ticket.where ~= 'dead' then wait_again(ticket, ticket.attempts, tonumber(due)) end
  end,
  bury = function(ticket, reason)
    if ticket.where == 'dead' then return end
    remove(ticket)
    redis.call('HSET', KEYS[7], padded(ticket.sequence), 'w 0 0 ' .. ticket.text .. ' ' .. reason)
    m.dead_tickets, m.dead = m.dead_tickets + 1, m.dead + ticket.quantity
    mark_buyer(ticket, 'd')
    ticket.where, ticket.flag = 'dead', 'w'
  end,
  revive = function(ticket)
    if ticket.where ~= 'dead' then return end
    ticket.deliveries = 0
    wait_again(ticket, 0, 0)
    mark_buyer(ticket, 'q')
  end,
}

for at = 5, #ARGV, 4 do
  if not VERDICTS[ARGV[at + 1]] then return redis.error_reply('ERR no such verdict') end
end
for at = 5, #ARGV, 4 do
  local ticket = found[tonumber(ARGV[at])]
  if ticket and ticket.where ~= 'gone' then
    VERDICTS[ARGV[at + 1]](ticket, ARGV[at + 2], ARGV[at + 3])
  end
end
for _, entry in ipairs(touched) do
  for sequence = entry.first, entry.first + entry.size - 1 do
    local ticket = found[sequence]
    if ticket and ticket.where == 'entry' then
      put_back(m, sequence, ticket.flag, 0, ticket.deliveries, ticket.text, entry.delivered and now + lease or 0)
    end
  end
  end_entry(m, entry.id, entry.size, entry.delivered)
end
m.settled_batch = math.max(m.settled_batch, tonumber(ARGV[4]))
if 0 < #touched then mark_stream(m) end
save(m)
return answer(m)
