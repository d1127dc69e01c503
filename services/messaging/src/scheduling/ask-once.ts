import type { Database, Executor, Query } from '@natter/database';

/**
 * Reads through, but asks the same thing once: for decisions that are made together, all on what was true when the first
 * asked. Not for longer than one batch.
 */
export function askOnce(database: Database): Database {
  const answers = new Map<string, Promise<unknown[]>>();
  const any = (async (query: Query) => {
    const key = `${query.sql} ${JSON.stringify(query.values)}`;
    const asked = answers.get(key) ?? database.any(query);
    answers.set(key, asked);
    // Each its own list: whoever asked may add to it.
    return [...(await asked)];
  }) as Executor['any'];
  return {
    ...database,
    any,
    maybeOne: async (query) => (await any(query))[0],
  };
}
