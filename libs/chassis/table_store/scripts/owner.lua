-- KEYS owner
-- Returns {0, worker, epoch, sequence, renewed, lease, now} | {3} no such table.
local held = redis.call('HMGET', KEYS[1], 'worker', 'epoch', 'seq', 'renewed', 'lease')
if not held[2] then
  return {3}
end
local time = redis.call('TIME')
return {0, held[1], tonumber(held[2]), tonumber(held[3]), tonumber(held[4]), tonumber(held[5]),
  time[1] * 1000 + math.floor(time[2] / 1000)}
