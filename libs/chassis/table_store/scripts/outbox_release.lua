-- KEYS the relay keys of buckets
-- ARGV worker
for i = 1, #KEYS do
  if redis.call('HGET', KEYS[i], 'holder') == ARGV[1] then
    redis.call('HSET', KEYS[i], 'holder', '')
  end
end
return 0
