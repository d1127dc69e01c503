-- Adds durable entries to a realm's stream, in order of their numbers.
-- KEYS: 1 stream, 2 meta hash.
-- ARGV: 1 Redis run id, or '' for entries from the record (a lost stream may have assigned ephemeral ids after them), 2
-- max length, 3 seconds to live, then per entry: number, mark, previous mark, data, signature or ''.
-- Returns {status, number}: 'ok' | 'gap' (the stream ends at number) | 'conflict' (the stream has another history at
-- number).
local last = redis.call('HGET', KEYS[2], 'number')
local mark = redis.call('HGET', KEYS[2], 'mark')
local run = ARGV[1]
if redis.call('EXISTS', KEYS[1]) == 0 then last, run = false, '' end
for i = 4, #ARGV, 5 do
  local number, entry_mark, previous = tonumber(ARGV[i]), ARGV[i + 1], ARGV[i + 2]
  if last and number <= tonumber(last) then
    -- The sweep compares older entries with the record: writers can't read the stream.
    if number == tonumber(last) and entry_mark ~= mark then return {'conflict', number} end
  elseif last and number > tonumber(last) + 1 then
    return {'gap', tonumber(last)}
  elseif last and previous ~= mark then
    return {'conflict', number}
  else
    redis.call('XADD', KEYS[1], 'MAXLEN', '~', ARGV[2], number .. '-0', 'm', entry_mark, 'd', ARGV[i + 3], 's', ARGV[i + 4])
    last, mark = number, entry_mark
    redis.call('HSET', KEYS[2], 'number', last, 'mark', mark, 'n', 0, 'run', run)
  end
end
redis.call('EXPIRE', KEYS[1], ARGV[3])
redis.call('EXPIRE', KEYS[2], ARGV[3])
return {'ok', tonumber(last or 0)}
