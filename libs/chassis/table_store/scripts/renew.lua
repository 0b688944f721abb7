-- KEYS the owner keys of tables of one bucket
-- ARGV worker, then the epoch of each table
-- Returns the positions (from 1) of the tables that this worker no longer holds.
local time = redis.call('TIME')
local now = string.format('%.0f', time[1] * 1000 + math.floor(time[2] / 1000))
local lost = {}
for i, key in ipairs(KEYS) do
  local held = redis.call('HMGET', key, 'worker', 'epoch')
  if held[1] == ARGV[1] and held[2] == ARGV[i + 1] then
    redis.call('HSET', key, 'renewed', now)
  else
    lost[#lost + 1] = i
  end
end
return lost
