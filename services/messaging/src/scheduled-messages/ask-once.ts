import type { Database, Executor, Query } from '@natter/database';

/**
 * Caches query results for decisions that are made together, all on the state at the first query. Use it for one batch
 * only.
 */
export function askOnce(database: Database): Database {
  const answers = new Map<string, Promise<unknown[]>>();
  const any = (async (query: Query) => {
    const key = `${query.sql} ${JSON.stringify(query.values)}`;
    const asked = answers.get(key) ?? database.any(query);
    answers.set(key, asked);
    // A copy for each caller, because callers may modify it.
    return [...(await asked)];
  }) as Executor['any'];
  return {
    ...database,
    any,
    maybeOne: async (query) => (await any(query))[0],
  };
}
