-- Hands out tickets: first those that came back and are due, then fresh entries by the consumer group. Leases that ended come back first.
-- ARGV: 3 tickets at most, 4 lease in ms, 5 longest retry in ms, 6 consumer.
-- PAYLOAD: "healed", "newer" where an entry of a later version was left to those who can read it, or nothing; then three a ticket: sequence, deliveries, "attempts user quantity key epoch accepted_at request_id".
-- Entries are handed out in their order, so nothing fresh passes one of a later version.
-- An entry that does not fit behind others stays; one that does not fit alone is taken apart: its tickets become entries of their own.
-- Where the group is lost (NOGROUP) it is made anew from 0: every entry is handed out again, which is harmless, and the caller is told; so
-- he is where the group's place was moved.
local m, trouble = load_state()
if not m then return trouble_answer(trouble) end
local count, lease, retry, consumer = tonumber(ARGV[3]), tonumber(ARGV[4]), tonumber(ARGV[5]), ARGV[6]
local out = { '' }
local handed = 0

-- Redis measures a lease by its own clock. Where the moment is given, deliveries are dated by it, and so is the idle time asked for.
local idle_min = lease
if given then idle_min = math.max(0, server_ms() - now + lease) end

-- What is due is read before anything is written, in parts that Lua bears.
local function is_readable(from, to)
  local PART = 5000
  local names = redis.call('ZRANGEBYSCORE', KEYS[5], from, to, 'LIMIT', 0, count)
  for at = 1, #names, PART do
    local part = { unpack(names, at, math.min(at + PART - 1, #names)) }
    for place, text in ipairs(redis.call('HMGET', KEYS[4], unpack(part))) do
      if not natural(string.match(part[place], '^0*(%d+)$')) then return false end
      if not text or not string.match(text, '^%a %d+ %d+ %S+ %d+ %S+ %d+ %d+ %S+$') then return false end
    end
  end
  return true
end
local far = '(' .. int(now + math.max(lease, retry))
if 0 < m.back and not (is_readable('-inf', int(now)) and is_readable(far, '+inf')) then return spoil() end

local function hand_out(sequence, deliveries, ticket)
  handed = handed + 1
  out[#out + 1] = int(sequence)
  out[#out + 1] = int(deliveries)
  out[#out + 1] = ticket
end

local ended = redis.pcall('XAUTOCLAIM', KEYS[3], GROUP, consumer, int(idle_min), '0-0', 'COUNT', 100)
if ended.err then
  if not string.find(ended.err, 'NOGROUP') then return redis.error_reply(ended.err) end
  redis.call('XGROUP', 'CREATE', KEYS[3], GROUP, '0')
  m.cursor, m.pending, out[1] = '0-0', 0, 'healed'
  ended = { '0-0', {} }
end
for _, entry in ipairs(ended[2]) do
  local first, size = extent(entry)
  if is_newer(entry) then
    -- Its lease is over for whoever can read it, as it was.
    redis.call('XCLAIM', KEYS[3], GROUP, consumer, 0, entry[1], 'IDLE', int(idle_min), 'JUSTID')
    out[1] = 'newer'
  else
    for place, ticket in ipairs(tickets_of(entry)) do put_back(m, first + place - 1, 'w', 0, 1, ticket, 0) end
    end_entry(m, entry[1], size, true)
  end
end

local function take_due(from, to)
  if count <= handed then return end
  for _, name in ipairs(redis.call('ZRANGEBYSCORE', KEYS[5], from, to, 'LIMIT', 0, count - handed)) do
    local flag, attempts, deliveries, ticket = string.match(redis.call('HGET', KEYS[4], name), '^(%a) (%d+) (%d+) (.*)$')
    deliveries = tonumber(deliveries) + 1
    redis.call('HSET', KEYS[4], name, 'l ' .. attempts .. ' ' .. int(deliveries) .. ' ' .. ticket)
    redis.call('ZADD', KEYS[5], int(now + lease), name)
    if flag ~= 'l' then m.leased_back = m.leased_back + 1 end
    hand_out(tonumber(name), deliveries, attempts .. ' ' .. ticket)
  end
end
-- Due ones; and what lies further ahead than anything may: it was dated by a clock that has gone back.
take_due('-inf', int(now))
take_due(far, '+inf')

local function read_next()
  local read = redis.call('XREADGROUP', 'GROUP', GROUP, consumer, 'COUNT', 1, 'STREAMS', KEYS[3], '>')
  return read and read[1][2][1][1]
end

while handed < count do
  local entry = redis.call('XRANGE', KEYS[3], '(' .. m.cursor, '+', 'COUNT', 1)[1]
  if not entry then break end
  if is_newer(entry) then
    out[1] = 'newer'
    break
  end
  local first, size = extent(entry)
  local fits = handed + size <= count
  if not fits and 0 < handed then break end
  if read_next() ~= entry[1] then
    -- The group's place was moved by somebody. It is put back, else this entry would be handed out without a lease.
    redis.call('XGROUP', 'SETID', KEYS[3], GROUP, m.cursor)
    if read_next() ~= entry[1] then return redis.error_reply('ERR the group does not hand out its next entry') end
    out[1] = 'healed'
  end
  if given then redis.call('XCLAIM', KEYS[3], GROUP, consumer, 0, entry[1], 'TIME', int(now), 'JUSTID') end
  m.cursor = entry[1]
  m.pending = m.pending + size
  for place, ticket in ipairs(tickets_of(entry)) do
    local sequence = first + place - 1
    local now_taken = handed < count
    if not fits and now_taken then put_back(m, sequence, 'l', 0, 1, ticket, now + lease) end
    if not fits and not now_taken then put_back(m, sequence, 'w', 0, 0, ticket, 0) end
    if now_taken then hand_out(sequence, 1, '0 ' .. ticket) end
  end
  if not fits then end_entry(m, entry[1], size, true) end
end

-- Each entry is delivered once, in their order: the first that is pending has waited longest.
local leased_at, fresh_at = m.leased_at, m.fresh_at
local oldest = 0 < m.pending and redis.call('XPENDING', KEYS[3], GROUP, '-', '+', 1)[1]
m.leased_at = oldest and math.max(0, now - (oldest[3] - (idle_min - lease))) or 0
mark_stream(m)
-- A moment counted back from an idle time wavers by a millisecond.
local is_moved = 1 < math.abs(m.leased_at - leased_at) or m.fresh_at ~= fresh_at
if 0 < handed or 0 < #ended[2] or out[1] ~= '' or is_moved then save(m) end
return answer(m, out)
