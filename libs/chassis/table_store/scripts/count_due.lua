-- KEYS the due keys of buckets
-- Returns how many tables have a deadline in them.
local armed = 0
for i = 1, #KEYS do
  armed = armed + redis.call('ZCARD', KEYS[i])
end
return armed
