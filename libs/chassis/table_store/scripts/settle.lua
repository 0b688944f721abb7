-- KEYS owner
-- ARGV worker epoch
-- Moves the epoch on, so that an append of the old epoch that is still on its way is refused.
-- Returns {0, epoch, sequence} | {1, owner, epoch} | {3}.
local held = redis.call('HMGET', KEYS[1], 'worker', 'epoch', 'seq')
if not held[2] then
  return {3}
end
if held[1] ~= ARGV[1] or held[2] ~= ARGV[2] then
  return {1, held[1], tonumber(held[2])}
end
local epoch = tonumber(held[2]) + 1
redis.call('HSET', KEYS[1], 'epoch', string.format('%.0f', epoch))
return {0, epoch, tonumber(held[3])}
