-- ARGV: time to live, then IDs. Returns the index of the last ID that has an entry, and
-- its conversation, revision and value, then revision and value of its bases; or nothing.

for last = #ARGV, 2, -1000 do
  local first = math.max(2, last - 999)
  local convs = call('HMGET', H, unpack(ARGV, first, last))
  for i = last, first, -1 do
    local conv = convs[i - first + 1]
    local rev = conv and alive('c' .. conv) and call('HGET', p .. 'c:' .. conv, 'h' .. ARGV[i])
    local out, seen = {i - 2, conv}, {}
    while rev and rev ~= zero and not seen[rev] do
      seen[rev] = true
      local value = call('HGET', p .. 'c:' .. conv, 'e' .. rev)
      if not value then break end
      out[#out + 1] = rev
      out[#out + 1] = value
      rev = value:sub(1, 16)
    end
    if #out > 2 then
      pcall(use, conv, false) -- a full or read-only server answers
      return out
    end
  end
end
return {}
