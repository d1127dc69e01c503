-- Stores that a user is present, at constant cost.
-- KEYS: 1 presence hash (user -> "active connected update"), 2 sorted set of updates (user by update id), 3 counter, 4 the Redis process that the realm was loaded for.
-- ARGV: 1 user, 2 now, 3 '1' if active, 4 seconds within which a repetition changes nothing, 5 id of this Redis process, 6 the latest time that is known.
-- Returns {update id, active before, active now, connected now}; the update id is -1 if the realm is not loaded.
if redis.call('EXISTS', KEYS[3]) == 0 or redis.call('GET', KEYS[4]) ~= ARGV[5] then return {-1, 0, 0, 0} end
local known = redis.call('HGET', KEYS[1], ARGV[1]) or '0 0 0'
local active, connected, update = string.match(known, '(%d+) (%d+) (%d+)')
active, connected, update = tonumber(active), tonumber(connected), tonumber(update)
-- Later times are of a clock that was set back since. `now` is no limit: the post may be a repeated old one.
local latest = tonumber(ARGV[6])
if active > latest then active = 0 end
if connected > latest then connected = 0 end
local before, now, pause = active, math.min(tonumber(ARGV[2]), latest), tonumber(ARGV[4])
local changed = false
if ARGV[3] == '1' and now - active >= pause then active = now; changed = true end
if now - connected >= pause then connected = now; changed = true end
if changed then
  -- A post that Redis missed is repeated later, possibly after a newer one.
  if ARGV[3] == '1' then active = math.max(active, now) end
  connected = math.max(connected, now)
  update = redis.call('INCR', KEYS[3])
  redis.call('HSET', KEYS[1], ARGV[1], active .. ' ' .. connected .. ' ' .. update)
  redis.call('ZADD', KEYS[2], update, ARGV[1])
end
return {changed and update or 0, before, active, connected}
