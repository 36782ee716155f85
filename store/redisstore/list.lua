-- ARGV: 0, first rank. Returns for 100 conversations and contents, the newest first: how
-- many these are, then for each conversation its name, entries, contents, bytes and last
-- use. The zero conversation stands for one content that was put for none.

local some = call('ZREVRANGE', X, ARGV[2], ARGV[2] + 99, 'WITHSCORES')
local out = {#some / 2}
local function add(...)
  for _, v in ipairs({...}) do out[#out + 1] = v end
end
local function bytes(member) return tonumber(call('HGET', N, member) or 0) end
for i = 1, #some, 2 do
  local member, name = some[i], some[i]:sub(2)
  if member:sub(1, 1) == 'b' then
    if call('HEXISTS', p .. 'b:' .. name, 'n') == 1 then add(zero, 0, 1, bytes(member), some[i + 1]) end
  else
    local entries, contents, sum = 0, 0, bytes(member)
    for _, f in ipairs(call('HKEYS', p .. 'c:' .. name)) do
      if f:sub(1, 1) == 'e' then entries = entries + 1 end
      if f:sub(1, 1) == 'b' and call('EXISTS', p .. 'b:' .. f:sub(2)) == 1 then
        contents = contents + 1
        sum = sum + bytes(f)
      end
    end
    add(name, entries, contents, sum, some[i + 1])
  end
end
return out
