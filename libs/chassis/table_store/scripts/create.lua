-- KEYS owner log snap due claimed out
-- ARGV table worker lease_ms entry snapshot? snapshot due, then outbox messages as in append.lua
-- Returns {created, worker, epoch, sequence}. A table that exists stays as it is.
local held = redis.call('HMGET', KEYS[1], 'worker', 'epoch', 'seq')
if held[2] then
  return {0, held[1], tonumber(held[2]), tonumber(held[3])}
end
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
redis.call('HSET', KEYS[1], 'worker', ARGV[2], 'epoch', 1, 'seq', 1, 'lease', ARGV[3],
  'renewed', string.format('%.0f', now))
redis.call('XADD', KEYS[2], '1-0', 'e', ARGV[4])
if ARGV[5] == '1' then
  redis.call('HSET', KEYS[3], 'seq', 1, 'data', ARGV[6])
end
if ARGV[7] ~= '' then
  redis.call('ZADD', KEYS[4], ARGV[7], ARGV[1])
end
local at = 8
while at <= #ARGV do
  local fields = tonumber(ARGV[at])
  local number = redis.call('HINCRBY', KEYS[1], 'told:' .. ARGV[at + 2], 1)
  redis.call('XADD', KEYS[6], '*', 'h:event-number', string.format('%.0f', number), unpack(ARGV, at + 1, at + fields))
  at = at + fields + 1
end
return {1, ARGV[2], 1, 1}
