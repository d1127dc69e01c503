-- The entries of a stream after an id, oldest first.
-- ARGV: 1 stream, 2 id, 3 maximum number of entries, 4 size in bytes after which no more entries are read. The stream is
-- no declared key: those require the right to write.
-- Returns {1 if the end was reached, entries as XRANGE returns them}.
local page_length = 8
local rows, bytes, after = {}, 0, ARGV[2]
while #rows < tonumber(ARGV[3]) and bytes < tonumber(ARGV[4]) do
  local page = redis.call('XRANGE', ARGV[1], '(' .. after, '+', 'COUNT', page_length)
  for _, row in ipairs(page) do
    rows[#rows + 1] = row
    bytes = bytes + #row[2][4]
    after = row[1]
  end
  if #page < page_length then return {1, rows} end
end
return {0, rows}
