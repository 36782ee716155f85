-- ARGV: time to live, limit, overhead, then for each row: ID, revision that it replaces,
-- revision, conversation, base, data. Returns the conversation, revision and value of
-- the entry that another writer put; the use of the scope if it is full; two empty texts
-- if the base of the first row is gone; or nothing.

local limit, overhead = tonumber(ARGV[2]), tonumber(ARGV[3])

-- may reports whether a row may be stored, and what is there.
local function may(at)
  local id, over, rev, into, base = ARGV[at], ARGV[at + 1], ARGV[at + 2], ARGV[at + 3], ARGV[at + 4]
  local conv = call('HGET', H, id)
  local there = conv and alive('c' .. conv) and call('HGET', p .. 'c:' .. conv, 'h' .. id)
  local based = base == zero or alive('c' .. into) and call('HEXISTS', p .. 'c:' .. into, 'e' .. base) == 1
  return based and (not there or there == over or there == rev), conv, there
end

purge(16)
local ok, conv, there = may(4)
if not ok and not there then return {'', ''} end
if not ok then
  pcall(use, conv, true)
  return {conv, there, call('HGET', p .. 'c:' .. conv, 'e' .. there)}
end

local more, seen = 0, {}
for at = 4, #ARGV, 6 do
  local c, e = p .. 'c:' .. ARGV[at + 3], 'e' .. ARGV[at + 2]
  if not seen[c .. e] and may(at) and call('HEXISTS', c, e) == 0 then more = more + #ARGV[at + 5] + overhead end
  seen[c .. e] = true
end
local full = room(limit, more)
if full then return {full} end

local written = {}
for at = 4, #ARGV, 6 do
  local id, rev, conv = ARGV[at], ARGV[at + 2], ARGV[at + 3]
  local ok, was = may(at)
  if ok then
    local c = p .. 'c:' .. conv
    if not written[conv] then
      if not alive('c' .. conv) then drop(conv) end
      call('ZADD', X, now, 'c' .. conv) -- alive for the conditions of the next rows
      written[conv] = true
    end
    if was and was ~= conv then call('HDEL', p .. 'c:' .. was, 'h' .. id) end
    local value = call('HGET', c, 'e' .. rev)
    if not value then
      local number = struct.pack('>I4', call('HINCRBY', c, 's', 1))
      call('HSET', c, 'e' .. rev, ARGV[at + 4] .. number .. ARGV[at + 5])
      count('c' .. conv, #ARGV[at + 5] + overhead)
    elseif value:sub(21) ~= ARGV[at + 5] then -- it may be damaged
      call('HSET', c, 'e' .. rev, ARGV[at + 4] .. value:sub(17, 20) .. ARGV[at + 5])
      count('c' .. conv, #ARGV[at + 5] + 20 - #value)
    end
    call('HSET', c, 'h' .. id, rev)
    call('HSET', H, id, conv)
  end
end
for conv in pairs(written) do use(conv, true) end
keep()
return {}
