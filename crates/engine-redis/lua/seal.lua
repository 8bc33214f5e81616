-- Takes what is left of a state that is not sound out of use, so that nothing changes it while it is read and the next is built.
-- ARGV: 3 epoch of the state to come, 4 the builder's own word.
-- ANSWERS: {"sealed"}; or, and then nothing was changed: {"nothing"}: there is nothing that could be lost; {"sound"}: the state can be used;
--   {"epoch", its epoch}: it has that one or a later one already.
-- WRITES: the keys move aside, unless others lie there: those are of the last state that was in use, and these of one that was never built.
local epoch = tonumber(ARGV[3])
local m, trouble = read_meta()
if trouble == 'none' and not is_aside() then return { 'nothing' } end
if m then
  local is_sound = m.built == 1 and is_whole(m) and m.server == server()
  if epoch <= m.epoch then return { is_sound and 'sound' or 'epoch', int(m.epoch) } end
  if is_sound then return { 'sound' } end
end
if is_aside() then drop_half_built() else move_aside() end
save(blank(epoch, ARGV[4]))
return { 'sealed' }
