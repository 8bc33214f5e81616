-- Shared head of every script: the keys of one sale, its meta fields, checks, and the summary that every answer carries.
--
-- KEYS of every script, all with the tag {a:<activity>:<shard>}:
--   1 meta     hash    rules, counters, marks (NUMBERS and TEXTS below); of use only where built = 1. Besides "none:<sequence>", for a ticket
--                      of a lost state that gets no unit (adopt.lua): at most one for each ticket that lost states had and nodes still
--                      told of, gone once it is final here or its buyer has another; what a worker left that died ends with the state
--   2 buyers   hash    user -> "key quantity sequence epoch accepted_at state"; state: q(ueued) d(ead) s(ucceeded) o(versold) x (discarded)
--   3 fresh    stream  entry <first sequence>-<tickets>: epoch, at, winners ("user quantity key request_id" a line, sequences ascend by one);
--                      of a later version than the first also v, its number (entries.lua)
--   4 back     hash    sequence -> ticket that left its entry: "flag attempts deliveries user quantity key epoch accepted_at request_id";
--                      flag: w(aits) or l(eased)
--   5 due      zset    sequence of each in back by when it can be taken: retry, or end of lease
--   6 order    zset    sequence of each in back by sequence
--   7 dead     hash    sequence -> ticket as in back, a space, the reason
-- ARGV of every script: 1 moment given instead of the server's clock (tests only; else empty), 2 least epoch that the caller accepts,
--   a space, the number of shards that the caller takes the sale to have, a space, and when the sale was created by the caller's ledger, or
--   nothing where that is not known.
-- ANSWERS: {status, moment, summary, payload}; status: ok | none (no state) | preheating (one is being built where none was lost) | building
--   (one that heals) | filled (built but for the last step) | damaged (a key is lost or not what it was) | doubtful (another server, or this
--   one after a restart: what it has may be older than what was
--   promised) | grace (it adopts, and admits nobody yet) | behind (the state is older than one the caller has seen) | split and a number (so
--   many shards the sale has) | another (of a sale that was created at another moment and had the number before: `created`, which states
--   that an earlier version built do not have). But for ok nothing was changed.
-- Sequences are the shard's own here, from 1; the caller makes those of the sale of them. Units on their way to another shard have left
-- `left` and stand in `out` ("id taker units"); `credited` tells the last id from each giver; `transfers` counts all of that (transfer.lua).
-- FENCE: meta.server is the replication id of the server that the shard was built or last confirmed on. A server takes a new one whenever
--   it starts, and whenever it becomes a master, also where it was one before; so whatever could bring back an older state brings another
--   id. A server that gets its first replica takes a new one, too: the state is then confirmed as after a restart.
-- INVARIANTS: HLEN buyers = meta.buyers, XLEN fresh = meta.entries, HLEN back = ZCARD due = ZCARD order = meta.back, HLEN dead =
--   meta.dead_tickets: one key deleted alone is found by the next call. Every number is a canonical natural below 10^15. All checks come
--   first; writes are HSET, HDEL, ZADD, ZREM, XACK, XDEL with such numbers on keys of checked types: they cannot fail.
local GROUP = 'workers'
local NUMBERS = {
  'built', 'epoch', 'starts', 'ends', 'limit', 'left', 'next', 'movement', 'accepted', 'queued', 'dead', 'tickets', 'dead_tickets',
  'buyers', 'entries', 'back', 'pending', 'leased_back', 'first', 'first_at', 'fresh_at', 'leased_at', 'newest', 'settled_batch', 'revision',
  'shards', 'transfers', 'opens',
}
local GRACE_MAX = 10000
local TEXTS = { 'status', 'held_at', 'resumes_at', 'cursor', 'builder', 'out', 'credited', 'server', 'created' }

-- Numbers below 2^53 are whole, and written out as such.
local function int(number) return string.format('%d', number) end
local function padded(sequence) return string.format('%015d', sequence) end

local function natural(text)
  if type(text) ~= 'string' or 15 < #text then return nil end
  if text == '0' then return 0 end
  return string.find(text, '^[1-9]%d*$') and tonumber(text)
end

local function server_ms()
  local time = redis.call('TIME')
  return tonumber(time[1]) * 1000 + math.floor(tonumber(time[2]) / 1000)
end

local epoch_min, shards, created = string.match(ARGV[2], '^(%d+) (%d+) ?(%-?%d*)$')
epoch_min, shards = tonumber(epoch_min), tonumber(shards)

local given = ARGV[1] ~= ''
local now = given and tonumber(ARGV[1]) or server_ms()

-- The meta hash as a table; or nothing and why.
local function read_meta()
  local kind = redis.call('TYPE', KEYS[1]).ok
  if kind == 'none' then
    return nil, redis.call('EXISTS', KEYS[2], KEYS[3], KEYS[4], KEYS[7]) == 0 and 'none' or 'damaged'
  end
  if kind ~= 'hash' then return nil, 'damaged' end
  local m = {}
  local texts = redis.call('HMGET', KEYS[1], unpack(NUMBERS))
  for place, name in ipairs(NUMBERS) do
    local number = texts[place] and tonumber(texts[place])
    if not number or 1e15 <= number then return nil, 'damaged' end
    m[name] = number
  end
  -- All at once, since this is done by every call: digits alone, and no zero before others.
  local all = ',' .. table.concat(texts, ',')
  if string.find(all, '[^%d,]') or string.find(all, ',0%d') then return nil, 'damaged' end
  for place, text in ipairs(redis.call('HMGET', KEYS[1], unpack(TEXTS))) do
    if not text and TEXTS[place] ~= 'created' then return nil, 'damaged' end
    m[TEXTS[place]] = text or ''
  end
  return m
end

local function has(count, command, key)
  return redis.pcall(command, key) == count
end

-- Whether no key was lost or changed behind our back. A claim does not write to the last four: it asks for them only where they have something.
local function is_whole(m, claims)
  return redis.call('TYPE', KEYS[3]).ok == 'stream' and has(m.buyers, 'HLEN', KEYS[2]) and has(m.entries, 'XLEN', KEYS[3])
    and (claims and m.back == 0
      or has(m.back, 'HLEN', KEYS[4]) and has(m.back, 'ZCARD', KEYS[5]) and has(m.back, 'ZCARD', KEYS[6]))
    and (claims and m.dead_tickets == 0 or has(m.dead_tickets, 'HLEN', KEYS[7]))
end

-- This server, as the fence names it.
local function server()
  return string.match(redis.call('INFO', 'replication'), 'master_replid:(%x+)')
end

-- Who lost his ticket with the state before this one comes before strangers. A clock that has gone back shuts nobody out for long.
local function is_grace(m) return now < m.opens and m.opens <= now + GRACE_MAX end

-- The state of a sale that may be used; or nothing and why. `claims`: for claim.lua.
local function load_state(claims)
  local m, trouble = read_meta()
  if not m then return nil, trouble end
  -- Before anything else: what is the matter with it is none of the caller's business.
  if created ~= '' and m.created ~= '' and m.created ~= created then return nil, 'another' end
  if m.shards ~= shards then return nil, 'split' .. int(m.shards) end
  if m.built == 3 then return nil, 'damaged' end
  if m.built == 2 then return nil, 'filled' end
  -- What heals has a grace, or is a draft that was sealed.
  if m.built ~= 1 then return nil, m.opens == 0 and m.status ~= 'draft' and 'preheating' or 'building' end
  if not is_whole(m, claims) then return nil, 'damaged' end
  if m.server ~= server() then return nil, 'doubtful', m end
  if m.epoch < epoch_min then return nil, 'behind' end
  if claims and is_grace(m) then return nil, 'grace' end
  return m
end

-- Told to all nodes, and not counted on: they read the sale now and then, too. A failure must not stop a script that has written. Units on
-- their way to another shard may still be sold.
local function tell(m)
  local left = m.left + (tonumber(string.match(m.out, '%d+$')) or 0)
  local told = int(m.epoch) .. ' ' .. int(m.revision) .. ' ' .. int(left) .. ' ' .. int(m.next)
  redis.pcall('SPUBLISH', string.sub(KEYS[1], 1, -5) .. 'changed', told)
end

-- Writes the numbers that a script has changed, where they are few; like save, once in a call.
local function save_some(m, ...)
  m.revision = m.revision + 1
  local fields = { 'revision', int(m.revision) }
  for _, name in ipairs({ ... }) do
    fields[#fields + 1] = name
    fields[#fields + 1] = int(m[name])
  end
  redis.call('HSET', KEYS[1], unpack(fields))
  tell(m)
end

local function save(m)
  m.revision = m.revision + 1
  local fields = {}
  for _, name in ipairs(NUMBERS) do
    fields[#fields + 1] = name
    fields[#fields + 1] = int(m[name])
  end
  for _, name in ipairs(TEXTS) do
    fields[#fields + 1] = name
    fields[#fields + 1] = m[name]
  end
  redis.call('HSET', KEYS[1], unpack(fields))
  tell(m)
end

-- An entry cannot be read: the state is used no more (built = 3). To be called before anything was written.
local function spoil()
  local m = read_meta()
  m.built = 3
  save(m)
  return { 'damaged', int(now) }
end

-- What the node remembers: 27 fields, read by summary.rs in this order. Figures that are not there are empty.
local function summary(m)
  local first, first_at = m.first, m.first_at
  local due_first = ''
  if 0 < m.back then
    local oldest = redis.call('ZRANGE', KEYS[6], 0, 0)[1]
    -- What cannot be read is left out: nothing may fail here, after the writes.
    local sequence = tonumber(oldest)
    local at = string.match(redis.call('HGET', KEYS[4], oldest) or '', '^%S+ %S+ %S+ %S+ %S+ %S+ %S+ (%d+)')
    if sequence and at and (first == 0 or sequence < first) then first, first_at = sequence, tonumber(at) end
    due_first = redis.call('ZRANGE', KEYS[5], 0, 0, 'WITHSCORES')[2]
  end
  return {
    int(m.epoch), m.status, int(m.starts), int(m.ends), int(m.limit), int(m.left), int(m.next), int(m.movement), m.held_at, m.resumes_at,
    int(m.accepted), int(m.queued), int(m.dead), int(m.tickets), int(m.dead_tickets), int(m.pending + m.leased_back), int(first),
    int(first_at), int(m.newest), int(m.fresh_at), due_first, m.pending == 0 and '' or int(m.leased_at), int(m.revision),
    int(m.transfers), m.out, m.builder, m.created,
  }
end

local function answer(m, payload) return { 'ok', int(now), summary(m), payload or {} } end
local function trouble_answer(trouble) return { trouble, int(now) } end
