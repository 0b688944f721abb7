-- KEYS queue pending
-- ARGV ticket_prefix seat_prefix now_ms fill_after_ms table_id queue_name wanted kept_ms event_id rated
-- Takes the oldest `wanted` live tickets at once, or all live ones when the oldest has waited long enough; nobody is in
-- two matches. Tickets whose player is gone, or who waits in another queue by now, leave this one. Who holds a seat
-- meanwhile is passed over. Returns {account, ticket, name, guest, entered ms, ...}.
local found = {}
local oldest = nil
local accounts = redis.call('ZRANGE', KEYS[1], 0, 63, 'WITHSCORES')
local wanted = tonumber(ARGV[7])
for i = 1, #accounts, 2 do
  local account = accounts[i]
  local about = redis.call('HMGET', ARGV[1] .. account, 'id', 'state', 'name', 'guest', 'queue')
  if about[2] ~= 'waiting' or about[5] ~= ARGV[6] then
    redis.call('ZREM', KEYS[1], account)
  elseif #found < wanted and redis.call('EXISTS', ARGV[2] .. account) == 0 then
    found[#found + 1] = {account, about[1], about[3], about[4], accounts[i + 1]}
    oldest = oldest or tonumber(accounts[i + 1])
  end
end
if #found == 0 or (#found < wanted and oldest + tonumber(ARGV[4]) > tonumber(ARGV[3])) then
  return {}
end
local rated = '0'
if #found == wanted then
  rated = ARGV[10]
end
local reply = {}
local match = {}
for _, one in ipairs(found) do
  local ticket = ARGV[1] .. one[1]
  redis.call('ZREM', KEYS[1], one[1])
  redis.call('HSET', ticket, 'state', 'matched', 'table', ARGV[5], 'rated', rated)
  redis.call('PEXPIRE', ticket, ARGV[8])
  redis.call('SET', ARGV[2] .. one[1], ARGV[5])
  for _, part in ipairs(one) do
    reply[#reply + 1] = part
  end
  match[#match + 1] = one
end
redis.call('HSET', KEYS[2], ARGV[5],
  cjson.encode({at = tonumber(ARGV[3]), tickets = match, about = ARGV[6], event = ARGV[9]}))
return reply
