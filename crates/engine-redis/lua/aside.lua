-- Second part of the head of the scripts that build a state: where the one before it is kept meanwhile.
-- KEYS: 8 to 14: the same seven keys under the names that they have aside. There only from when a state was given up until the next is built.
local function is_aside() return redis.call('EXISTS', unpack(KEYS, 8, 14)) ~= 0 end

-- Out of use, and kept: what only this state knows must outlive whoever builds the next.
local function move_aside()
  for place = 1, 7 do
    if redis.call('EXISTS', KEYS[place]) == 1 then redis.call('RENAME', KEYS[place], KEYS[place + 7]) end
  end
end

local function drop_half_built() redis.call('UNLINK', unpack(KEYS, 1, 7)) end

-- A state in which nothing is yet, and which nobody may use. `newest` says until it is built when its builder did something last.
local function blank(epoch, builder)
  local m = {}
  for _, name in ipairs(NUMBERS) do m[name] = 0 end
  for _, name in ipairs(TEXTS) do m[name] = '' end
  m.epoch, m.status, m.cursor, m.builder, m.server, m.newest = epoch, 'draft', '0-0', builder, server(), now
  m.shards = shards
  return m
end
