-- Takes what is left of a state that is not sound out of use, so that nothing changes it while it is read and the next is built.
-- ARGV: 3 epoch of the state to come, 4 the builder's own word, 5 "whole" where a sound one is sealed, too: a shard of a sale of which
--   another one is not.
-- ANSWERS: {"sealed"}; or, and then nothing was changed: {"nothing"}: there is nothing that could be lost; {"sound"}: the state can be used;
--   {"epoch", its epoch}: it has that one or a later one already; {"split", number}: so many shards the sale has.
-- WRITES: the keys move aside, unless others lie there: those are of the last state that was in use, and these of one that was never built.
local epoch = tonumber(ARGV[3])
local m, trouble = read_meta()
if trouble == 'none' and not is_aside() then return { 'nothing' } end
if m then
  if m.shards ~= shards then return { 'split', int(m.shards) } end
  local is_sound = m.built == 1 and is_whole(m) and m.server == server()
  if epoch <= m.epoch then return { is_sound and 'sound' or 'epoch', int(m.epoch) } end
  if is_sound and ARGV[5] ~= 'whole' then return { 'sound' } end
end
if is_aside() then drop_half_built() else move_aside() end
save(blank(epoch, ARGV[4]))
return { 'sealed' }
