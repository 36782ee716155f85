-- ARGV: 0, overhead, then for each entry: conversation, revision, data. Removes those that
-- still have this data, and the IDs that point at them.

for at = 3, #ARGV, 3 do
  local conv, rev, data = ARGV[at], ARGV[at + 1], ARGV[at + 2]
  local c = p .. 'c:' .. conv
  local value = call('HGET', c, 'e' .. rev)
  if value and value:sub(21) == data then
    call('HDEL', c, 'e' .. rev)
    count('c' .. conv, -#data - ARGV[2])
    local fields = call('HGETALL', c)
    for i = 1, #fields, 2 do
      if fields[i]:sub(1, 1) == 'h' and fields[i + 1] == rev then
        call('HDEL', c, fields[i])
        call('HDEL', H, fields[i]:sub(2))
      end
    end
  end
end
return {}
