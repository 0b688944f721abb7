-- KEYS seat ticket queue queues pending
-- ARGV account ticket_id queue_name queue_prefix now_ms ttl_ms name guest
-- Returns {table or '', ticket or ''}: the running table, or the one ticket of the account. While the table of its
-- match is still to be made, the account has its ticket, not yet a table.
local seated = redis.call('GET', KEYS[1])
local old = redis.call('HMGET', KEYS[2], 'id', 'queue', 'state')
if seated then
  if old[1] and redis.call('HEXISTS', KEYS[5], seated) == 1 then
    return {'', old[1]}
  end
  return {seated, ''}
end
if old[1] and old[3] == 'waiting' then
  if old[2] == ARGV[3] then
    redis.call('PEXPIRE', KEYS[2], ARGV[6])
    redis.call('ZADD', KEYS[3], 'NX', ARGV[5], ARGV[1])
    return {'', old[1]}
  end
  redis.call('ZREM', ARGV[4] .. old[2], ARGV[1])
end
redis.call('DEL', KEYS[2])
redis.call('HSET', KEYS[2], 'id', ARGV[2], 'queue', ARGV[3], 'state', 'waiting', 'entered', ARGV[5], 'name', ARGV[7],
  'guest', ARGV[8])
redis.call('PEXPIRE', KEYS[2], ARGV[6])
redis.call('ZADD', KEYS[3], ARGV[5], ARGV[1])
redis.call('SADD', KEYS[4], ARGV[3])
return {'', ARGV[2]}
