-- ARGV: time to live, limit, overhead, conversation, then for each content: handle, key,
-- data. Returns the use of the scope if it is full, the handle of a conflict, or nothing.

local limit, overhead, conv = tonumber(ARGV[2]), tonumber(ARGV[3]), ARGV[4]
local c = p .. 'c:' .. conv

purge(16)
if conv ~= zero and not alive('c' .. conv) then drop(conv) end
for at = 5, #ARGV, 3 do
  local handle, key, data = ARGV[at], ARGV[at + 1], ARGV[at + 2]
  local member, b = 'b' .. handle, p .. 'b:' .. handle
  local there = call('HGET', b, 'k')
  if there and not alive(member) then
    dropContent(handle)
    there = false
  end
  if there and there ~= key then return {handle} end
  local was = there and call('HGET', b, 'd') or nil
  if was ~= data then -- what is there may be damaged
    local more = #data + (was and -#was or overhead)
    local full = room(limit, more)
    if full then return {full} end
    call('HSET', b, 'k', key, 'd', data)
    count(member, more)
  end
  if conv == zero then
    call('HSET', b, 'n', '')
  else
    call('HSET', b, 'c' .. conv, '')
    call('HSET', c, member, '')
    use(conv, true)
  end
  used(member, b)
end
keep()
return {}
