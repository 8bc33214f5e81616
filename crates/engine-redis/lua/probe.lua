-- Tries every command that the other scripts and the engine use, on keys of its own that are gone in the end: what the user may not do.
-- KEYS: 1 hash, 2 stream, 3 zset, 4 set, 5 string; all in one slot. ARGV: 1 channel, or nothing.
-- ANSWER: one text for each command that was refused: the command, a space, the server's words.
local hash, stream, zset, set, text = KEYS[1], KEYS[2], KEYS[3], KEYS[4], KEYS[5]
local refused = {}
for _, command in ipairs({
  { 'TIME' }, { 'INFO', 'replication' }, { 'TYPE', hash }, { 'EXISTS', hash },
  { 'HSET', hash, 'f', '1' }, { 'HSETNX', hash, 'f', '1' }, { 'HGET', hash, 'f' }, { 'HMGET', hash, 'f' }, { 'HGETALL', hash },
  { 'HLEN', hash }, { 'HSCAN', hash, '0' }, { 'HDEL', hash, 'f' },
  { 'XADD', stream, '1-1', 'f', '1' }, { 'XGROUP', 'CREATE', stream, 'g', '0' }, { 'XGROUP', 'SETID', stream, 'g', '0' }, { 'XLEN', stream },
  { 'XREADGROUP', 'GROUP', 'g', 'c', 'COUNT', '1', 'STREAMS', stream, '>' }, { 'XPENDING', stream, 'g', '-', '+', '1' },
  { 'XCLAIM', stream, 'g', 'c', '0', '1-1', 'JUSTID' }, { 'XAUTOCLAIM', stream, 'g', 'c', '0', '0-0', 'COUNT', '1' },
  { 'XRANGE', stream, '-', '+' }, { 'XREVRANGE', stream, '+', '-' }, { 'XACK', stream, 'g', '1-1' }, { 'XDEL', stream, '1-1' },
  { 'ZADD', zset, '1', 'm' }, { 'ZCARD', zset }, { 'ZRANGE', zset, '0', '0' }, { 'ZRANGEBYSCORE', zset, '-inf', '+inf' }, { 'ZREM', zset, 'm' },
  { 'SADD', set, 'm' }, { 'SMEMBERS', set }, { 'SREM', set, 'm' }, { 'SET', text, '1' }, { 'GET', text }, { 'RENAME', text, text }, { 'DEL', text },
  ARGV[1] == '' and { 'TIME' } or { 'SPUBLISH', ARGV[1], 'probe' }, { 'UNLINK', hash, stream, zset, set, text },
}) do
  local answer = redis.pcall(unpack(command))
  local words = type(answer) == 'table' and answer.err
  -- 7.0: "The user executing the script can't run this command", "... access at least one of the keys", "... publish to the channel".
  if words and (string.find(words, 'executing the script') or string.find(words, 'ermission')) then
    refused[#refused + 1] = string.lower(command[1]) .. ' ' .. words
  end
end
return refused
