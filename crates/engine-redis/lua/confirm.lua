-- Puts a doubtful state into use again, or raises the epoch of a sound one.
-- ARGV: 3 epoch, 4 next sequence at least, 5 revision of the state that was counted, or nothing where a sound one is raised however it is;
--   then, for the former, 6 left, 7 applied movement, 8 ms for which it admits nobody and adopts.
-- PAYLOAD: "confirmed"; or "changed": it is not the state that was counted. Revisions begin anew with each build, so one of a later epoch is
--   none, however alike the two look: whoever counted stood still meanwhile.
local m, trouble, doubtful = load_state()
m = m or doubtful
if not m then return trouble_answer(trouble) end
local counted = ARGV[5] ~= ''
if counted and (int(m.revision) ~= ARGV[5] or tonumber(ARGV[3]) < m.epoch) then return answer(m, { 'changed' }) end
if not counted and doubtful then return trouble_answer(trouble) end
m.epoch, m.next = math.max(m.epoch, tonumber(ARGV[3])), math.max(m.next, tonumber(ARGV[4]))
if counted then
  m.left, m.movement, m.opens = tonumber(ARGV[6]), tonumber(ARGV[7]), ARGV[8] ~= '0' and now + tonumber(ARGV[8]) or 0
end
m.server = server()
save(m)
return answer(m, { 'confirmed' })
