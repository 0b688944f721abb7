-- KEYS (relay out) of each bucket
-- ARGV worker, then (acknowledged id, smallest id to keep) of each bucket
-- Only the holder of a bucket moves its mark. Returns the number of buckets that were moved.
local moved = 0
for i = 1, #KEYS, 2 do
  if redis.call('HGET', KEYS[i], 'holder') == ARGV[1] then
    redis.call('HSET', KEYS[i], 'acked', ARGV[i + 1])
    redis.call('XTRIM', KEYS[i + 1], 'MINID', ARGV[i + 2])
    moved = moved + 1
  end
end
return moved
