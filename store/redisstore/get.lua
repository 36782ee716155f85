-- ARGV: time to live, handle. Returns key and data of the content, or nothing.

local member, b = 'b' .. ARGV[2], p .. 'b:' .. ARGV[2]
if not alive(member) then return {} end
local content = call('HMGET', b, 'k', 'd')
if not content[1] or not content[2] then return {} end
pcall(function() -- a full or read-only server answers
  if not due(b, 2) then return end
  used(member, b)
  for _, f in ipairs(call('HKEYS', b)) do
    if f:sub(1, 1) == 'c' and alive(f) then
      renew(f:sub(2)) -- its other contents too, or the expiry of its key would say that they were
      renewed[#renewed + 1] = f:sub(2)
    end
  end
  keep()
end)
return content
