-- ARGV: 0, then conversations. Without them, removes a part of everything, and returns
-- how many conversations and contents it removed.

if #ARGV > 1 then
  for at = 2, #ARGV do drop(ARGV[at]) end
  clean()
  return {0}
end
local some = call('ZRANGE', X, 0, 99)
for _, member in ipairs(some) do dropMember(member) end
clean()
return {#some}
