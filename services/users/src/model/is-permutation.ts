export const isPermutation = (given: readonly number[], known: readonly number[]): boolean =>
  given.length === known.length && new Set(given).size === given.length && given.every((id) => known.includes(id));
