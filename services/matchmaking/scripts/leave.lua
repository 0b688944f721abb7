-- KEYS ticket
-- ARGV account queue_prefix
-- A waiting ticket goes; one that is matched stays. Returns 1 when a ticket went.
local old = redis.call('HMGET', KEYS[1], 'queue', 'state')
if old[2] ~= 'waiting' then
  return 0
end
redis.call('ZREM', ARGV[2] .. old[1], ARGV[1])
redis.call('DEL', KEYS[1])
return 1
