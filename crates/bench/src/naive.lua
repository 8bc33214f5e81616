-- The articles' algorithm: one call decides one buyer, with its queue in the script, so that no unit is lost between the two.
-- What the product is compared with; no part of it.
--
-- KEYS  1 units left   2 users who have bought   3 queue
-- ARGV  1 user         2 request id
-- Returns 1: bought; 0: sold out; -1: bought before.
if redis.call('SISMEMBER', KEYS[2], ARGV[1]) == 1 then return -1 end
local left = tonumber(redis.call('GET', KEYS[1]) or '0')
if left <= 0 then return 0 end
redis.call('DECR', KEYS[1])
redis.call('SADD', KEYS[2], ARGV[1])
redis.call('XADD', KEYS[3], '*', 'user', ARGV[1], 'request', ARGV[2])
return 1
