-- KEYS (due claimed) of each bucket
-- ARGV now limit visible_again
-- Takes due tables and hides them until visible_again (unix ms). The deadline as an append set it is kept aside, so that
-- a table that comes back tells its true deadline; an append replaces both.
-- Returns {next due or '', table, due, table, due, ...}.
local found = {''}
local now = tonumber(ARGV[1])
local left = tonumber(ARGV[2])
local soonest = nil
for i = 1, #KEYS, 2 do
  -- Most buckets have nothing that is due at most looks, and cost one call.
  local first = redis.call('ZRANGE', KEYS[i], 0, 0, 'WITHSCORES')
  if left > 0 and first[2] and tonumber(first[2]) <= now then
    local due = redis.call('ZRANGEBYSCORE', KEYS[i], '-inf', ARGV[1], 'WITHSCORES', 'LIMIT', 0, left)
    for j = 1, #due, 2 do
      redis.call('HSETNX', KEYS[i + 1], due[j], due[j + 1])
      redis.call('ZADD', KEYS[i], ARGV[3], due[j])
      found[#found + 1] = due[j]
      found[#found + 1] = redis.call('HGET', KEYS[i + 1], due[j])
    end
    left = left - #due / 2
    first = redis.call('ZRANGE', KEYS[i], 0, 0, 'WITHSCORES')
  end
  if first[2] and (not soonest or tonumber(first[2]) < soonest) then
    soonest = tonumber(first[2])
  end
end
if soonest then
  found[1] = string.format('%.0f', soonest)
end
return found
