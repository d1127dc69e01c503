-- The changes after an update, everything, or the state of one user.
-- KEYS: 1 hash of users, 2 users by update, 3 counter, 4 the Redis process that the realm was loaded for.
-- ARGV: 1 the update, 0 for everything; 2 a user, or '' for all, 3 id of this Redis process.
-- Returns {counter or false if the realm is not loaded, user, value, user, value, ...}.
local counter = redis.call('GET', KEYS[3])
if not counter or redis.call('GET', KEYS[4]) ~= ARGV[3] then return {false} end
-- Changes nothing. While Redis refuses writes, its state is outdated: this makes it refuse the read too.
redis.call('SETNX', KEYS[3], 0)
local answer = {counter}
if ARGV[2] ~= '' then
  local value = redis.call('HGET', KEYS[1], ARGV[2])
  if value then return {counter, ARGV[2], value} end
  return answer
end
if tonumber(ARGV[1]) <= 0 then
  local all = redis.call('HGETALL', KEYS[1])
  table.insert(all, 1, counter)
  return all
end
local users = redis.call('ZRANGEBYSCORE', KEYS[2], '(' .. ARGV[1], '+inf')
for from = 1, #users, 1000 do
  local to = math.min(from + 999, #users)
  local values = redis.call('HMGET', KEYS[1], unpack(users, from, to))
  for i = from, to do
    answer[#answer + 1] = users[i]
    answer[#answer + 1] = values[i - from + 1] or '0 0 0'
  end
end
return answer
