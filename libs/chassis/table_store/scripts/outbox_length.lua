-- KEYS the outbox keys of buckets
-- Returns how many messages they hold together.
local held = 0
for i = 1, #KEYS do
  held = held + redis.call('XLEN', KEYS[i])
end
return held
