-- Ends the leases of entries that a consumer of this name took in an earlier life. Tickets that left their entries wait for their lease.
-- ARGV: 3 consumer.
-- PAYLOAD: nothing.
local m, trouble = load_state()
if not m then return trouble_answer(trouble) end
local STEP = 1000
local from, ended = '-', 0
repeat
  -- Without a group there are no leases; the next take makes it anew.
  local pending = redis.pcall('XPENDING', KEYS[3], GROUP, from, '+', STEP, ARGV[3])
  if pending.err then return answer(m) end
  for _, lease in ipairs(pending) do
    local entry = redis.call('XRANGE', KEYS[3], lease[1], lease[1])[1]
    local first, size = extent(entry)
    -- An earlier life may have been of a later version.
    if not is_newer(entry) then
      for place, ticket in ipairs(tickets_of(entry)) do put_back(m, first + place - 1, 'w', 0, 1, ticket, 0) end
      end_entry(m, entry[1], size, true)
      ended = ended + 1
    end
    from = '(' .. lease[1]
  end
until #pending < STEP
if 0 < ended then
  mark_stream(m)
  save(m)
end
return answer(m)
