-- KEYS owner
-- ARGV worker epoch previous renewed
-- Returns {0} | {1, owner, epoch} | {3}, as append.lua.
local held = redis.call('HMGET', KEYS[1], 'worker', 'epoch')
if not held[2] then
  return {3}
end
if held[1] ~= ARGV[1] or held[2] ~= ARGV[2] then
  return {1, held[1], tonumber(held[2])}
end
redis.call('HSET', KEYS[1], 'worker', ARGV[3], 'renewed', ARGV[4], 'lease', '0')
return {0}
