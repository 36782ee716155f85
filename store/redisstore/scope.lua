-- What all scripts share. It is put before each of them.
--
-- KEYS[1] is the prefix of the keys of a part of a scope. It has a hash tag, so that they
-- are in one slot of a cluster. On a server, a scope has one part. In a cluster, the entries
-- of a history are in one part, and each content is in one; a conversation has a hash in each
-- part that has something of it. IDs, revisions and conversations are 16 bytes each.
--
--   h         hash        ID → conversation of the entry that it points at
--   c:CONV    hash        'h' ID → revision; 'e' revision → base, number and data;
--                         'b' handle → ''; 's' → the last number; 't' → the
--                         number from which on there are too many entries
--   b:HANDLE  hash        'k' → key; 'd' → data; 'c' CONV → ''; 'n' → '' if put for none
--   x         sorted set  'c' CONV and 'b' HANDLE, by their last use in milliseconds
--   n         hash        the same members → bytes; '' → the sum
--
-- Everything of a conversation is used and expires together. The index x decides. The
-- expiry of the keys, after two or three times that, removes scopes that are used no more.
-- ARGV[1] is the time to live in milliseconds, 0: none.

local call = redis.call
local p = KEYS[1]
local H, X, N = p .. 'h', p .. 'x', p .. 'n'
local ttl = tonumber(ARGV[1])
local clock = call('TIME')
local now = clock[1] * 1000 + math.floor(clock[2] / 1000)
local zero = string.rep('\0', 16)

local renewed = {} -- conversations whose contents in other parts are to be renewed too

local function alive(member)
  local used = call('ZSCORE', X, member)
  return used and (ttl == 0 or now - used <= ttl)
end

-- due reports whether a share of the time to live, half of it by default, has gone since a key
-- got times of it.
local function due(key, times, share)
  local left = call('PTTL', key)
  if ttl == 0 then return left >= 0 end
  return left < (times - (share or 0.5)) * ttl
end

local function expire(key, times)
  if ttl == 0 then call('PERSIST', key) else call('PEXPIRE', key, times * ttl) end
end

-- keep renews the keys that are not of one conversation. They outlive those that are.
local function keep()
  for _, key in ipairs({H, X, N}) do
    if due(key, 3) then expire(key, 3) end
  end
end

local function used(member, key)
  call('ZADD', X, now, member)
  expire(key, 2)
end

-- renew marks all of a conversation as used now.
local function renew(conv)
  local c = p .. 'c:' .. conv
  used('c' .. conv, c)
  for _, f in ipairs(call('HKEYS', c)) do
    if f:sub(1, 1) == 'b' and alive(f) then used(f, p .. 'b:' .. f:sub(2)) end
  end
  keep()
end

-- use marks a conversation as used now. It does so for all of it once in half a time to live;
-- if always, at once, and for its contents once in a 32nd, so that edits do not outlive them.
local function use(conv, always)
  local due = due(p .. 'c:' .. conv, 2, always and 1 / 32)
  if always then call('ZADD', X, now, 'c' .. conv) end
  if not due then return end
  renew(conv)
  renewed[#renewed + 1] = conv
end

local function count(member, bytes)
  call('HINCRBY', N, member, bytes)
  call('HINCRBY', N, '', bytes)
end

local function forget(member)
  local bytes = call('HGET', N, member)
  if bytes then call('HINCRBY', N, '', -bytes) end
  call('HDEL', N, member)
  call('ZREM', X, member)
end

local function dropContent(handle)
  forget('b' .. handle)
  return call('UNLINK', p .. 'b:' .. handle)
end

-- unlink removes a content that belongs to no other conversation.
local function unlink(handle, conv)
  local b = p .. 'b:' .. handle
  call('HDEL', b, 'c' .. conv)
  for _, f in ipairs(call('HKEYS', b)) do
    if f == 'n' then return 0 end
    if f:sub(1, 1) == 'c' and call('HEXISTS', p .. 'c:' .. f:sub(2), 'b' .. handle) == 1 then return 0 end
  end
  return dropContent(handle)
end

-- drop removes a conversation and returns how many rows that were.
local function drop(conv)
  local c, rows = p .. 'c:' .. conv, 0
  for _, f in ipairs(call('HKEYS', c)) do
    local kind, name = f:sub(1, 1), f:sub(2)
    if kind == 'h' and call('HGET', H, name) == conv then call('HDEL', H, name) end
    if kind == 'e' then rows = rows + 1 end
    if kind == 'b' then rows = rows + unlink(name, conv) end
  end
  call('UNLINK', c)
  forget('c' .. conv)
  return rows
end

local function dropMember(member)
  if member:sub(1, 1) == 'c' then return drop(member:sub(2)) end
  return dropContent(member:sub(2))
end

-- clean removes the keys of a scope that has nothing any more.
local function clean()
  if call('EXISTS', X) == 0 then call('UNLINK', H, N) end
end

-- purge removes some of what has expired.
local function purge(most)
  if ttl == 0 then return 0 end
  local old = call('ZRANGEBYSCORE', X, '-inf', '(' .. string.format('%.0f', now - ttl), 'LIMIT', 0, most)
  for _, member in ipairs(old) do dropMember(member) end
  return #old
end

-- room returns nil if a scope has room for more bytes, else how many it keeps.
local function room(limit, more)
  while limit > 0 and more > 0 do
    local kept = tonumber(call('HGET', N, '') or 0)
    if kept + more <= limit then return nil end
    if purge(1000) == 0 then return kept end
  end
end
