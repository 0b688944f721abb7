-- KEYS seat
-- ARGV table
-- The account sits at that table no more. Returns 1 when it did.
if redis.call('GET', KEYS[1]) == ARGV[1] then
  redis.call('DEL', KEYS[1])
  return 1
end
return 0
