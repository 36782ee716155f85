-- ARGV: time to live, first rank, cursor. Looks at some conversations and contents, and
-- at some IDs. Returns the next rank and cursor, '' at the end, and how many rows were
-- removed: those that expired, and what is left of those that the server removed.

local rank, cursor, removed = ARGV[2], ARGV[3], 0
if rank ~= '' then
  local some = call('ZRANGE', X, rank, rank + 199)
  local stay = 0
  for _, member in ipairs(some) do
    local key = p .. member:sub(1, 1) .. ':' .. member:sub(2)
    if alive(member) and call('EXISTS', key) == 1 then
      stay = stay + 1
    else
      removed = removed + dropMember(member)
    end
  end
  rank = #some < 200 and '' or tostring(rank + stay)
end
if cursor ~= '' then
  local page = call('HSCAN', H, cursor, 'COUNT', 500)
  for i = 1, #page[2], 2 do
    local id, conv = page[2][i], page[2][i + 1]
    if call('HEXISTS', p .. 'c:' .. conv, 'h' .. id) == 0 then call('HDEL', H, id) end
  end
  cursor = page[1] == '0' and '' or page[1]
end
clean()
return {rank, cursor, removed}
