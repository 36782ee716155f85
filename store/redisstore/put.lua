-- ARGV: time to live, limit, overhead, then for each row: ID, revision that it replaces,
-- revision, conversation, base, data, and another ID with the revision that it must point at
-- (zero: none). Returns the conversation, revision and value of
-- the entry that another writer put; the use of the scope if it is full; two empty texts
-- if the base of the first row is gone; or nothing.

local limit, overhead = tonumber(ARGV[2]), tonumber(ARGV[3])
local most = 4096 -- entries of a conversation, about

-- may reports whether a row may be stored, and what is there.
local function may(at)
  local id, over, rev, into, base = ARGV[at], ARGV[at + 1], ARGV[at + 2], ARGV[at + 3], ARGV[at + 4]
  local conv = call('HGET', H, id)
  local there = conv and alive('c' .. conv) and call('HGET', p .. 'c:' .. conv, 'h' .. id)
  local based = base == zero or alive('c' .. into) and call('HEXISTS', p .. 'c:' .. into, 'e' .. base) == 1
  local head, headRev = ARGV[at + 6], ARGV[at + 7]
  if head ~= zero and there ~= rev then
    local hc = call('HGET', H, head)
    if not hc or not alive('c' .. hc) or call('HGET', p .. 'c:' .. hc, 'h' .. head) ~= headRev then return false, conv, there end
  end
  return based and (not there or there == over or there == rev), conv, there
end

-- bound removes all but the newest entries of a conversation that has too many, and the IDs
-- that point at them. What the newest build on stays.
local function bound(conv)
  local c = p .. 'c:' .. conv
  local last = tonumber(call('HGET', c, 's') or 0)
  if last < tonumber(call('HGET', c, 't') or most) then return end
  local all, fields = {}, call('HGETALL', c)
  for i = 1, #fields, 2 do all[fields[i]] = fields[i + 1] end
  local stays = {}
  for field, value in pairs(all) do
    if field:sub(1, 1) == 'e' and struct.unpack('>I4', value, 17) > last - most / 2 then
      while value and not stays[field] do
        stays[field] = true
        field = 'e' .. value:sub(1, 16)
        value = all[field]
      end
    end
  end
  for field, value in pairs(all) do
    local kind, name = field:sub(1, 1), field:sub(2)
    if kind == 'e' and not stays[field] then
      call('HDEL', c, field)
      count('c' .. conv, 20 - #value - overhead)
    elseif kind == 'h' and not stays['e' .. value] then
      call('HDEL', c, field)
      if call('HGET', H, name) == conv then call('HDEL', H, name) end
    end
  end
  call('HSET', c, 't', last + most / 2)
end

purge(16)
local ok, conv, there = may(4)
if not ok and not there then return {'', ''} end
if not ok then
  pcall(use, conv, true)
  return {conv, there, call('HGET', p .. 'c:' .. conv, 'e' .. there)}
end

local more, seen = 0, {}
for at = 4, #ARGV, 8 do
  local c, e = p .. 'c:' .. ARGV[at + 3], 'e' .. ARGV[at + 2]
  if not seen[c .. e] and may(at) and call('HEXISTS', c, e) == 0 then more = more + #ARGV[at + 5] + overhead end
  seen[c .. e] = true
end
local full = room(limit, more)
if full then return {full} end

local written = {}
for at = 4, #ARGV, 8 do
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
for conv in pairs(written) do
  bound(conv)
  use(conv, true)
end
keep()
return {}
