-- KEYS owner log snap due claimed
-- ARGV table worker epoch
-- Returns {0} | {1, owner, epoch} | {3}, as append.lua.
local held = redis.call('HMGET', KEYS[1], 'worker', 'epoch')
if not held[2] then
  return {3}
end
if held[1] ~= ARGV[2] or held[2] ~= ARGV[3] then
  return {1, held[1], tonumber(held[2])}
end
redis.call('DEL', KEYS[1], KEYS[2], KEYS[3])
redis.call('ZREM', KEYS[4], ARGV[1])
redis.call('HDEL', KEYS[5], ARGV[1])
return {0}
