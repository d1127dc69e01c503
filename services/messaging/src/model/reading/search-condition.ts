import { sql } from '@natter/database';
import type { Term } from './narrow/narrow.ts';
import { holdsPhrases, type Search, searchOf } from './narrow/search-query.ts';
import type { Reader } from './reader.ts';

/** Adds what a term searches for to `searches`, unless it is negated. */
export async function searchCondition(
  { executor, meta }: Reader,
  { operand, negated }: Term & { operator: 'search' },
  searches: Search[],
) {
  const search = await searchOf(executor, meta.realmId, operand);
  if (!search) return sql.fragment`false`;
  if (!negated) searches.push(search);
  return sql.fragment`(m.search @@ ${search.query}::tsquery AND ${holdsPhrases(operand)})`;
}
