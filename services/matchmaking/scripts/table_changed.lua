-- KEYS table lobby
-- ARGV table_id sequence seat_prefix code_prefix closed listed about now_ms [account ...]
-- Takes over a newer state of a table: who sits there, whether it is listed. Returns 1 when it was newer. News may come
-- late: whoever sits at another table by now keeps that seat.
local known = redis.call('HMGET', KEYS[1], 'sequence', 'accounts', 'created', 'code')
if known[1] and tonumber(known[1]) >= tonumber(ARGV[2]) then
  return 0
end
local now_seated = {}
for i = 9, #ARGV do
  now_seated[ARGV[i]] = true
  if ARGV[5] == '0' then
    redis.call('SET', ARGV[3] .. ARGV[i], ARGV[1], 'NX')
  end
end
for account in string.gmatch(known[2] or '', '[^\n]+') do
  if (ARGV[5] == '1' or not now_seated[account]) and redis.call('GET', ARGV[3] .. account) == ARGV[1] then
    redis.call('DEL', ARGV[3] .. account)
  end
end
if ARGV[5] == '1' then
  for account in pairs(now_seated) do
    if redis.call('GET', ARGV[3] .. account) == ARGV[1] then
      redis.call('DEL', ARGV[3] .. account)
    end
  end
  if known[4] and known[4] ~= '' then
    redis.call('DEL', ARGV[4] .. known[4])
  end
  redis.call('HSET', KEYS[1], 'sequence', ARGV[2], 'closed', '1')
  redis.call('PEXPIRE', KEYS[1], 3600000)
  redis.call('ZREM', KEYS[2], ARGV[1])
  return 1
end
local accounts = {}
for i = 9, #ARGV do
  accounts[#accounts + 1] = ARGV[i]
end
redis.call('HSET', KEYS[1], 'sequence', ARGV[2], 'accounts', table.concat(accounts, '\n'), 'about', ARGV[7])
redis.call('HSETNX', KEYS[1], 'created', ARGV[8])
redis.call('PERSIST', KEYS[1])
if ARGV[6] == '1' then
  redis.call('ZADD', KEYS[2], 'NX', redis.call('HGET', KEYS[1], 'created'), ARGV[1])
else
  redis.call('ZREM', KEYS[2], ARGV[1])
end
return 1
