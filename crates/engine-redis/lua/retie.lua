-- Gives the server another name where it still has the one that the caller knows.
--
-- KEYS: 1 installation  string  the name of the database that the server belongs to
-- ARGV: 1 the name that it has, 2 the one that it gets.
-- ANSWERS: the name that it has afterwards, or nothing where it has none.
-- INVARIANTS: SET takes a key of any type; one of another type than a string is left alone.
local kind = redis.call('TYPE', KEYS[1]).ok
if kind ~= 'string' then return false end
local name = redis.call('GET', KEYS[1])
if name ~= ARGV[1] then return name end
redis.call('SET', KEYS[1], ARGV[2])
return ARGV[2]
