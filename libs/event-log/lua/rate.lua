-- Spends a weight from several budgets of a window, or from none if one has too little left.
-- KEYS: a counter for each budget.
-- ARGV: 1 the weight, then the limit and the seconds to live of each.
-- Returns {amount spent of the first budget, 1-based index of the budget that refused or 0, amount spent of the second
-- budget, ...}. After a refusal the amounts end with that of the budget that refused.
local weight = tonumber(ARGV[1])
local spent = {}
for i, key in ipairs(KEYS) do
  spent[i] = tonumber(redis.call('HGET', key, 'n') or 0)
  local limit = tonumber(ARGV[2 * i])
  -- A weight above a whole budget takes all of it.
  if spent[i] + math.min(weight, limit) > limit then return {spent[1], i, unpack(spent, 2)} end
end
for i, key in ipairs(KEYS) do
  spent[i] = redis.call('HINCRBY', key, 'n', weight)
  if spent[i] == weight then redis.call('EXPIRE', key, ARGV[2 * i + 1]) end
end
return {spent[1] or 0, 0, unpack(spent, 2)}
