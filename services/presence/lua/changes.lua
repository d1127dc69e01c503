-- What changed after an update.
-- KEYS: 1 hash of users, 2 users by update, 3 counter. ARGV: 1 the update
-- Returns {counter or false when the realm is not known here, user, value, user, value, ...}
local counter = redis.call('GET', KEYS[3])
if not counter then return {false} end
local answer = {counter}
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
