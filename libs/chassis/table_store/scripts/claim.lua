-- KEYS owner log snap
-- ARGV worker lease_ms take_over(0|1)
-- Returns {0, epoch, snapshot or false, snapshot sequence, sequence, previous worker, renewed, now, entries}
--   | {1, owner, epoch} held by a live lease | {3} no such table.
local held = redis.call('HMGET', KEYS[1], 'worker', 'epoch', 'seq', 'renewed', 'lease')
if not held[2] then
  return {3}
end
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
local previous, renewed = held[1], tonumber(held[4])
if ARGV[3] ~= '1' and previous ~= '' and previous ~= ARGV[1] and now < renewed + tonumber(held[5]) then
  return {1, previous, tonumber(held[2])}
end
local epoch = tonumber(held[2]) + 1
redis.call('HSET', KEYS[1], 'worker', ARGV[1], 'epoch', string.format('%.0f', epoch), 'lease', ARGV[2],
  'renewed', string.format('%.0f', now))
local snapshot = redis.call('HMGET', KEYS[3], 'data', 'seq')
local from = tonumber(snapshot[2] or '0')
local entries = redis.call('XRANGE', KEYS[2], string.format('%.0f-0', from + 1), '+')
return {0, epoch, snapshot[1], from, tonumber(held[3]), previous, renewed, now, entries}
