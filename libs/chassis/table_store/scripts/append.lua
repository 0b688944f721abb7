-- KEYS owner log snap due claimed out
-- ARGV table worker epoch expected due_mode due snapshot? snapshot trim_before entries n (entry){n}
--      then for each outbox message: fields m (name value){m/2}, its topic being the first value
-- Each message is given its number: how many of its topic the table has put out with it.
-- due_mode: k keep, c clear, s set. All or nothing: every check comes before the first write.
-- Returns {0, sequence} | {1, owner, epoch} fenced | {2, sequence} conflict | {3} no such table.
local held = redis.call('HMGET', KEYS[1], 'worker', 'epoch', 'seq')
if not held[2] then
  return {3}
end
if held[1] ~= ARGV[2] or held[2] ~= ARGV[3] then
  return {1, held[1], tonumber(held[2])}
end
local sequence = tonumber(held[3])
if held[3] ~= ARGV[4] then
  return {2, sequence}
end
local count = tonumber(ARGV[10])
local last = 10 + count
for i = 11, last do
  sequence = sequence + 1
  redis.call('XADD', KEYS[2], string.format('%.0f-0', sequence), 'e', ARGV[i])
end
local time = redis.call('TIME')
redis.call('HSET', KEYS[1], 'seq', string.format('%.0f', sequence),
  'renewed', string.format('%.0f', time[1] * 1000 + math.floor(time[2] / 1000)))
if ARGV[5] == 's' then
  redis.call('ZADD', KEYS[4], ARGV[6], ARGV[1])
  redis.call('HDEL', KEYS[5], ARGV[1])
elseif ARGV[5] == 'c' then
  redis.call('ZREM', KEYS[4], ARGV[1])
  redis.call('HDEL', KEYS[5], ARGV[1])
end
if ARGV[7] == '1' then
  redis.call('HSET', KEYS[3], 'seq', string.format('%.0f', sequence), 'data', ARGV[8])
end
local at = last + 1
while at <= #ARGV do
  local fields = tonumber(ARGV[at])
  local number = redis.call('HINCRBY', KEYS[1], 'told:' .. ARGV[at + 2], 1)
  redis.call('XADD', KEYS[6], '*', 'h:event-number', string.format('%.0f', number), unpack(ARGV, at + 1, at + fields))
  at = at + fields + 1
end
if ARGV[9] ~= '' then
  redis.call('XTRIM', KEYS[2], 'MINID', ARGV[9] .. '-0')
end
return {0, sequence}
