-- Adds durable entries to a realm's stream, in order of their numbers.
-- KEYS: 1 stream, 2 meta hash.
-- ARGV: 1 Redis run id, or '' for entries from the record (a lost stream may have assigned ephemeral ids after them), 2
-- max length, 3 max bytes, 4 seconds to live, then per entry: number, mark, previous mark, data, signature or ''.
-- Returns {status, number, before, n}: 'ok' | 'gap' (the stream ends at number) | 'conflict' (the stream has another
-- history at number). The first added entry follows the durable entry `before` and its `n` ephemeral ones.
-- The meta hash has the sizes of the stream's segments, because writers can't read the stream: `segments` lists
-- 'last number:bytes ' of the full ones, `open` is the size of the last one. A full stream drops its oldest segments.
local meta = redis.call('HMGET', KEYS[2], 'number', 'mark', 'n', 'segments', 'open')
local last, mark, n = meta[1], meta[2], meta[3]
local segments, open = meta[4] or '', tonumber(meta[5] or 0)
local before, ephemeral = 0, 0
local run, max_bytes = ARGV[1], tonumber(ARGV[3])
if redis.call('EXISTS', KEYS[1]) == 0 then last, run, segments, open = false, '', '', 0 end

-- Ends the open segment at a number. Returns the first number of the oldest segment that is kept, or nil for all.
local function end_segment(number)
  segments, open = segments .. number .. ':' .. open .. ' ', 0
  local total, first = 0, nil
  for bytes in string.gmatch(segments, ':(%d+)') do total = total + tonumber(bytes) end
  while total > max_bytes * 15 / 16 do
    local through, bytes, rest = string.match(segments, '^(%d+):(%d+) (.+)$')
    if not rest then return first end
    total, segments, first = total - tonumber(bytes), rest, string.format('%.0f', tonumber(through) + 1)
  end
  return first
end

for i = 5, #ARGV, 5 do
  local number, entry_mark, previous = tonumber(ARGV[i]), ARGV[i + 1], ARGV[i + 2]
  if last and number <= tonumber(last) then
    -- The sweep compares older entries with the record: writers can't read the stream.
    if number == tonumber(last) and entry_mark ~= mark then return {'conflict', number, 0, 0} end
  elseif last and number > tonumber(last) + 1 then
    return {'gap', tonumber(last), 0, 0}
  elseif last and previous ~= mark then
    return {'conflict', number, 0, 0}
  else
    open = open + #ARGV[i + 3] + #ARGV[i + 4]
    local first = open > max_bytes / 16 and end_segment(ARGV[i])
    local trim = first and {'MINID', '=', first} or {'MAXLEN', '~', ARGV[2]}
    redis.call('XADD', KEYS[1], trim[1], trim[2], trim[3], number .. '-0', 'm', entry_mark, 'd', ARGV[i + 3], 's', ARGV[i + 4])
    if last and n then before, ephemeral, n = tonumber(last), tonumber(n), false end
    last, mark = number, entry_mark
    redis.call('HSET', KEYS[2], 'number', last, 'mark', mark, 'n', 0, 'run', run, 'segments', segments, 'open', open)
  end
end
redis.call('EXPIRE', KEYS[1], ARGV[4])
redis.call('EXPIRE', KEYS[2], ARGV[4])
return {'ok', tonumber(last or 0), before, ephemeral}
