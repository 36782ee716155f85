-- ARGV: time to live, then conversations that were used in other parts.

for at = 2, #ARGV do
  if alive('c' .. ARGV[at]) then renew(ARGV[at]) end
end
return {}
