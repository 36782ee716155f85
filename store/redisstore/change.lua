-- ARGV: 0, member of the index, field of its hash, value that is there, new value. Writes
-- the new value if nobody else has written another one.

local member, field, was, value = ARGV[2], ARGV[3], ARGV[4], ARGV[5]
local key = p .. member:sub(1, 1) .. ':' .. member:sub(2)
if call('HGET', key, field) == was then
  call('HSET', key, field, value)
  count(member, #value - #was)
end
return {}
