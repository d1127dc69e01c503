-- Adds durable entries to a realm's stream, in order of their numbers.
-- KEYS: 1 stream, 2 meta hash.
-- ARGV: 1 Redis run id, or '' for entries from the record (a lost stream may have assigned ephemeral ids after them), 2
-- max length, 3 seconds to live, then per entry: number, mark, previous mark, data, signature or ''.
-- Returns {status, number, before, n}: 'ok' | 'gap' (the stream ends at number) | 'conflict' (the stream has another
-- history at number). The first added entry follows the durable entry `before` and its `n` ephemeral ones.
local meta = redis.call('HMGET', KEYS[2], 'number', 'mark', 'n')
local last, mark, n = meta[1], meta[2], meta[3]
local before, ephemeral = 0, 0
local run = ARGV[1]
if redis.call('EXISTS', KEYS[1]) == 0 then last, run = false, '' end
for i = 4, #ARGV, 5 do
  local number, entry_mark, previous = tonumber(ARGV[i]), ARGV[i + 1], ARGV[i + 2]
  if last and number <= tonumber(last) then
    -- The sweep compares older entries with the record: writers can't read the stream.
    if number == tonumber(last) and entry_mark ~= mark then return {'conflict', number, 0, 0} end
  elseif last and number > tonumber(last) + 1 then
    return {'gap', tonumber(last), 0, 0}
  elseif last and previous ~= mark then
    return {'conflict', number, 0, 0}
  else
    redis.call('XADD', KEYS[1], 'MAXLEN', '~', ARGV[2], number .. '-0', 'm', entry_mark, 'd', ARGV[i + 3], 's', ARGV[i + 4])
    if last and n then before, ephemeral, n = tonumber(last), tonumber(n), false end
    last, mark = number, entry_mark
    redis.call('HSET', KEYS[2], 'number', last, 'mark', mark, 'n', 0, 'run', run)
  end
end
redis.call('EXPIRE', KEYS[1], ARGV[3])
redis.call('EXPIRE', KEYS[2], ARGV[3])
return {'ok', tonumber(last or 0), before, ephemeral}
