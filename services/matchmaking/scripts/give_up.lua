-- KEYS pending
-- ARGV table_id ticket_prefix seat_prefix [account ...]
-- The table of a match cannot be made: its accounts are free again and their tickets gone.
for i = 4, #ARGV do
  if redis.call('GET', ARGV[3] .. ARGV[i]) == ARGV[1] then
    redis.call('DEL', ARGV[3] .. ARGV[i])
  end
  if redis.call('HGET', ARGV[2] .. ARGV[i], 'table') == ARGV[1] then
    redis.call('DEL', ARGV[2] .. ARGV[i])
  end
end
return redis.call('HDEL', KEYS[1], ARGV[1])
