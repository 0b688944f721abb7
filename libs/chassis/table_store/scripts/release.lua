-- KEYS owner log snap
-- ARGV worker epoch sequence snapshot? snapshot
-- Returns {0} | {1, owner, epoch} | {2, sequence} | {3}, as append.lua.
local held = redis.call('HMGET', KEYS[1], 'worker', 'epoch', 'seq')
if not held[2] then
  return {3}
end
if held[1] ~= ARGV[1] or held[2] ~= ARGV[2] then
  return {1, held[1], tonumber(held[2])}
end
if ARGV[4] == '1' then
  if held[3] ~= ARGV[3] then
    return {2, tonumber(held[3])}
  end
  redis.call('HSET', KEYS[3], 'seq', held[3], 'data', ARGV[5])
end
local time = redis.call('TIME')
redis.call('HSET', KEYS[1], 'worker', '', 'renewed',
  string.format('%.0f', time[1] * 1000 + math.floor(time[2] / 1000)))
return {0}
