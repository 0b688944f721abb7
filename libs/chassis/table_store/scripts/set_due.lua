-- KEYS owner due claimed
-- ARGV table worker epoch due ('' clears)
-- Returns {0} | {1, owner, epoch} | {3}, as append.lua.
local held = redis.call('HMGET', KEYS[1], 'worker', 'epoch')
if not held[2] then
  return {3}
end
if held[1] ~= ARGV[2] or held[2] ~= ARGV[3] then
  return {1, held[1], tonumber(held[2])}
end
if ARGV[4] == '' then
  redis.call('ZREM', KEYS[2], ARGV[1])
else
  redis.call('ZADD', KEYS[2], ARGV[4], ARGV[1])
end
redis.call('HDEL', KEYS[3], ARGV[1])
return {0}
