-- Adds an ephemeral entry after the last durable one.
-- KEYS: 1 stream, 2 meta hash.
-- ARGV: 1 Redis run id, 2 maximum of ephemeral entries per number, 3 data, 4 signature or ''.
-- Returns {number, n, mark of the preceding durable entry}, or {0} if a durable tick must come first, so that no id is
-- assigned twice.
local meta = redis.call('HMGET', KEYS[2], 'number', 'mark', 'n', 'run', 'open')
if not meta[1] or meta[4] ~= ARGV[1] or tonumber(meta[3]) >= tonumber(ARGV[2]) then return {0} end
local n = tonumber(meta[3]) + 1
redis.call('HSET', KEYS[2], 'n', n, 'open', tonumber(meta[5] or 0) + #ARGV[3] + #ARGV[4])
redis.call('XADD', KEYS[1], meta[1] .. '-' .. n, 'm', meta[2], 'd', ARGV[3], 's', ARGV[4])
return {tonumber(meta[1]), n, tonumber(meta[2])}
