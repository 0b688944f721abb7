-- KEYS ticket seat pending
-- ARGV ttl_ms
-- Keeps a ticket alive and returns {state, table or '', queue, entered, seat or '', table pending 0 or 1, rated or ''};
-- nothing when there is no ticket.
local about = redis.call('HMGET', KEYS[1], 'state', 'table', 'queue', 'entered', 'rated')
if not about[1] then
  return {}
end
local pending = 0
if about[2] then
  pending = redis.call('HEXISTS', KEYS[3], about[2])
end
if about[1] == 'waiting' or pending == 1 then
  redis.call('PEXPIRE', KEYS[1], ARGV[1])
end
return {about[1], about[2] or '', about[3], about[4], redis.call('GET', KEYS[2]) or '', pending, about[5] or ''}
