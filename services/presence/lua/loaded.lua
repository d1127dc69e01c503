-- Ends the load of a realm: from here on the realm counts as loaded, unless Redis was emptied meanwhile.
-- KEYS: 1 presence hash, 2 sorted set of updates, 3 counter, 4 the Redis process that the realm was loaded for.
-- ARGV: 1 id of this Redis process, 2 lowest value of the counter, 3 seconds to live, 4 the user who was added first, or '' if there is none.
-- A Redis that came back with older data has assigned higher ids than its counter tells.
if redis.call('EXISTS', KEYS[3]) == 1 and redis.call('GET', KEYS[4]) == ARGV[1] then return 0 end
-- Whatever was added before Redis was emptied is missing.
if ARGV[4] ~= '' and not redis.call('HGET', KEYS[1], ARGV[4]) then return 0 end
local counter = math.max(tonumber(redis.call('GET', KEYS[3]) or 0), tonumber(ARGV[2]))
redis.call('SET', KEYS[3], string.format('%.0f', counter))
redis.call('SET', KEYS[4], ARGV[1])
for _, key in ipairs(KEYS) do redis.call('EXPIRE', key, ARGV[3]) end
return 1
