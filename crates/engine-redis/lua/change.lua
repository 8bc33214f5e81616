-- Changes rules or marks of a sale.
-- ARGV: 3 what; then
--   terms:   status, starts, ends, limit, when the sale was created or nothing: a state learns it once
--   hold:    held_at, resumes_at (may be empty)
--   release: held_at, resumes_at of the hold that ends
--   move:    movement, units (may be negative), "whole" where all of a negative number must be there, else nothing
--   rebase:  epoch, left, applied movement, "fall" where fewer units that are left stay, or "any"; then users whose final ticket is queued again
--   erase:   user, whose ticket waits nowhere any more
-- PAYLOAD: nothing, or "short" where the units are not there. What is so already changes nothing.
local m, trouble = load_state()
if not m then return trouble_answer(trouble) end
local what = ARGV[3]
if what == 'terms' then
  local starts, ends, limit = tonumber(ARGV[5]), tonumber(ARGV[6]), tonumber(ARGV[7])
  local own = m.created ~= '' and m.created or ARGV[8]
  local is_so = m.status == ARGV[4] and m.starts == starts and m.ends == ends and m.limit == limit and m.created == own
  if is_so then return answer(m) end
  m.status, m.starts, m.ends, m.limit, m.created = ARGV[4], starts, ends, limit, own
elseif what == 'hold' then
  if m.held_at == ARGV[4] and m.resumes_at == ARGV[5] then return answer(m) end
  m.held_at, m.resumes_at = ARGV[4], ARGV[5]
elseif what == 'release' then
  if m.held_at ~= ARGV[4] or m.resumes_at ~= ARGV[5] then return answer(m) end
  m.held_at, m.resumes_at = '', ''
elseif what == 'move' then
  local movement = tonumber(ARGV[4])
  if movement <= m.movement then return answer(m) end
  if ARGV[6] == 'whole' and m.left + tonumber(ARGV[5]) < 0 then return answer(m, { 'short' }) end
  m.movement = movement
  m.left = math.max(0, m.left + tonumber(ARGV[5]))
elseif what == 'rebase' then
  local left = tonumber(ARGV[5])
  if ARGV[7] == 'fall' then left = math.min(left, m.left) end
  m.epoch, m.left, m.movement = math.max(m.epoch, tonumber(ARGV[4])), left, tonumber(ARGV[6])
  for at = 8, #ARGV do
    local record = redis.call('HGET', KEYS[2], ARGV[at])
    local key, quantity, sequence, epoch, accepted_at, state = string.match(record or '', '^(%S+) (%d+) (%d+) (%d+) (%d+) (%a)$')
    if state and state ~= 'q' and state ~= 'd' then
      redis.call('HSET', KEYS[2], ARGV[at], string.sub(record, 1, -2) .. 'q')
      local name = padded(tonumber(sequence))
      local rest = ARGV[at] .. ' ' .. quantity .. ' ' .. key .. ' ' .. epoch .. ' ' .. accepted_at .. ' requeued-' .. sequence
      redis.call('HSET', KEYS[4], name, 'w 0 0 ' .. rest)
      redis.call('ZADD', KEYS[5], 0, name)
      redis.call('ZADD', KEYS[6], sequence, name)
      m.back, m.tickets, m.queued = m.back + 1, m.tickets + 1, m.queued + tonumber(quantity)
    end
  end
elseif what == 'erase' then
  local quantity = string.match(redis.call('HGET', KEYS[2], ARGV[4]) or '', '^%S+ (%d+) ')
  if not quantity then return answer(m) end
  redis.call('HDEL', KEYS[2], ARGV[4])
  m.buyers, m.accepted = m.buyers - 1, m.accepted - tonumber(quantity)
else
  return redis.error_reply('ERR no such change')
end
save(m)
return answer(m)
