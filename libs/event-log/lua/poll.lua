-- Counts a poll of a queue by its owner.
-- KEYS: 1 the queue's record, 2 its polls. ARGV: 1 user id, 2 which process polls, 3 seconds to live
-- Returns {record or false, number of this poll or 0 when it is not counted, which process polled before or false}
local record = redis.call('GET', KEYS[1])
if not record or cjson.decode(record).user_id ~= tonumber(ARGV[1]) then return {record, 0, false} end
local before = redis.call('HGET', KEYS[2], 'by')
local number = redis.call('HINCRBY', KEYS[2], 'number', 1)
if before ~= ARGV[2] then redis.call('HSET', KEYS[2], 'by', ARGV[2]) end
redis.call('EXPIRE', KEYS[2], ARGV[3])
return {record, number, before}
