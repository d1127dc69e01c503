-- Numbers a poll of a queue for its owner.
-- KEYS: 1 the queue's record, 2 its polls.
-- ARGV: 1 user id, 2 polling process, 3 seconds to live.
-- Returns {record or false, number of this poll or 0 if it is not numbered, process of the previous poll or false}.
-- Numbers are microseconds of the clock, at least one above the last, so they increase even if Redis lost the last one.
local record = redis.call('GET', KEYS[1])
if not record or cjson.decode(record).user_id ~= tonumber(ARGV[1]) then return {record, 0, false} end
local last = redis.call('HMGET', KEYS[2], 'number', 'by')
local time = redis.call('TIME')
local number = math.max(tonumber(time[1]) * 1000000 + tonumber(time[2]), (tonumber(last[1]) or 0) + 1)
redis.call('HSET', KEYS[2], 'number', string.format('%.0f', number), 'by', ARGV[2])
redis.call('EXPIRE', KEYS[2], ARGV[3])
return {record, number, last[2]}
