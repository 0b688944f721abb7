-- KEYS (relay out) of each bucket
-- ARGV worker lease_ms limit broker
-- Takes or renews the lease of each bucket that no other worker holds, and reads what the broker has not acknowledged.
-- A bucket whose messages went to another life of the broker begins anew with what is retained.
-- Returns {position of the bucket (from 1), entries} for each bucket that this worker holds.
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
local left = tonumber(ARGV[3])
local found = {}
for i = 1, #KEYS, 2 do
  local relay = redis.call('HMGET', KEYS[i], 'holder', 'until', 'acked', 'broker')
  local mine = relay[1] == ARGV[1]
  if mine or not relay[1] or relay[1] == '' or now >= tonumber(relay[2]) then
    if not mine or tonumber(relay[2]) - now < tonumber(ARGV[2]) / 2 then
      redis.call('HSET', KEYS[i], 'holder', ARGV[1], 'until', string.format('%.0f', now + ARGV[2]))
    end
    local acked = relay[3] or '0-0'
    if relay[4] ~= ARGV[4] then
      acked = '0-0'
      redis.call('HSET', KEYS[i], 'acked', acked, 'broker', ARGV[4])
    end
    local entries = {}
    if left > 0 then
      entries = redis.call('XRANGE', KEYS[i + 1], '(' .. acked, '+', 'COUNT', left)
      left = left - #entries
    end
    found[#found + 1] = {(i + 1) / 2, entries}
  end
end
return found
