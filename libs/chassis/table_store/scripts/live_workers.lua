-- KEYS live about
-- Returns what each live worker said of itself.
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
local workers = redis.call('ZRANGEBYSCORE', KEYS[1], '(' .. string.format('%.0f', now), '+inf')
if #workers == 0 then
  return {}
end
return redis.call('HMGET', KEYS[2], unpack(workers))
