import { type Executor, sql } from '@natter/database';
import { expect, test } from 'vitest';
import { selectAmong } from './page.ts';
import type { Scope } from './scope.ts';

test('of many messages, all that belong to a scope are found', async () => {
  const ids = Array.from({ length: 10_000 }, (_, index) => index + 1);
  // Finds all, up to the limit at the end of the statement.
  const executor = {
    any: async ({ values }: { values: unknown[] }) => ids.slice(0, Number(values.at(-1))).map((id) => ({ id })),
  } as unknown as Executor;
  const scope = { conditions: [sql.fragment`true`], isPlain: true } as unknown as Scope;
  expect(await selectAmong(executor, scope, ids)).toEqual(ids);
});
