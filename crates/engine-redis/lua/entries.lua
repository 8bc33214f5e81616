-- Second part of the head of the scripts that work the queue: how tickets leave their stream entry.
local function field(entry, name)
  for at = 1, #entry[2], 2 do
    if entry[2][at] == name then return entry[2][at + 1] end
  end
end

-- Entries of the first version have no field `v`. Whatever a later version writes otherwise, its id, `epoch` and `at` mean the same, so that
-- an older node can pass it over: it leaves the entry where it is, for nodes that can read it.
local VERSION = 1
local function is_newer(entry)
  local version = field(entry, 'v')
  return version and not (natural(version) and tonumber(version) <= VERSION)
end

-- First sequence and number of tickets of an entry: its id says both.
local function extent(entry)
  local first, count = string.match(entry[1], '^(%d+)-(%d+)$')
  return tonumber(first), tonumber(count)
end

-- The tickets of an entry in order, as texts "user quantity key epoch accepted_at request_id".
local function tickets_of(entry)
  local tickets = {}
  local middle = ' ' .. field(entry, 'epoch') .. ' ' .. field(entry, 'at') .. ' '
  for user, quantity, key, request_id in string.gmatch(field(entry, 'winners'), '(%S+) (%d+) (%S+) (%S+)') do
    tickets[#tickets + 1] = user .. ' ' .. quantity .. ' ' .. key .. middle .. request_id
  end
  return tickets
end

-- A ticket as an entry of its own: under `due` it can be taken (again).
local function put_back(m, sequence, flag, attempts, deliveries, ticket, due)
  local name = padded(sequence)
  redis.call('HSET', KEYS[4], name, flag .. ' ' .. int(attempts) .. ' ' .. int(deliveries) .. ' ' .. ticket)
  redis.call('ZADD', KEYS[5], int(due), name)
  redis.call('ZADD', KEYS[6], int(sequence), name)
  m.back = m.back + 1
  if flag == 'l' then m.leased_back = m.leased_back + 1 end
end

-- Ends an entry; what of it still waits has been put back in this very step. `was_delivered`: it is in the group's list.
local function end_entry(m, id, count, was_delivered)
  redis.call('XACK', KEYS[3], GROUP, id)
  redis.call('XDEL', KEYS[3], id)
  m.entries = m.entries - 1
  if was_delivered then m.pending = m.pending - count end
end

-- Marks that depend on what is in the stream.
local function mark_stream(m)
  local first = redis.call('XRANGE', KEYS[3], '-', '+', 'COUNT', 1)[1]
  m.first, m.first_at = 0, 0
  if first then m.first, m.first_at = extent(first), tonumber(field(first, 'at')) end
  local fresh = redis.call('XRANGE', KEYS[3], '(' .. m.cursor, '+', 'COUNT', 1)[1]
  m.fresh_at = fresh and tonumber(field(fresh, 'at')) or 0
end
