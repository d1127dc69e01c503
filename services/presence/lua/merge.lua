-- Adds the state of users from Postgres where it is newer.
-- KEYS: 1 presence hash, 2 sorted set of updates.
-- ARGV: 1 the latest time that is known, then user, active, connected, update of each.
local latest = tonumber(ARGV[1])
-- Later times are of a clock that was set back since.
local function known_time(time) return time <= latest and time or 0 end
for at = 2, #ARGV, 4 do
  local user, active, connected, update = ARGV[at], tonumber(ARGV[at + 1]), tonumber(ARGV[at + 2]), tonumber(ARGV[at + 3])
  local known = redis.call('HGET', KEYS[1], user)
  local before = {0, 0, -1}
  if known then
    local a, c, u = string.match(known, '(%d+) (%d+) (%d+)')
    before = {tonumber(a), tonumber(c), tonumber(u)}
  end
  if update > before[3] then
    active = math.max(known_time(active), known_time(before[1]))
    connected = math.max(known_time(connected), known_time(before[2]))
    redis.call('HSET', KEYS[1], user, string.format('%.0f %.0f %.0f', active, connected, update))
    redis.call('ZADD', KEYS[2], update, user)
  end
end
return 0
