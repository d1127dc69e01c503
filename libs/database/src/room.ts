import { badRequest, type totals } from '@natter/contracts';

import { z } from 'zod';
import { sql } from './database.ts';
import type { Work } from './unit-of-work.ts';

const stateRow = z.object({ count: z.number(), bytes: z.number() });

type Total = (typeof totals)[keyof typeof totals];
type Fragment = ReturnType<typeof sql.fragment>;

/**
 * Refuses a unit that has added more to a collection than the collection may hold. Call it after the INSERT or UPDATE; `rows` follows
 * FROM and names the whole collection. `bytes` is the size of a row's text, where the total bounds it. Far from the limits it only
 * counts; near them units of the realm take turns, so that two at once cannot exceed them.
 */
export async function requireRoom<T extends Total>(
  work: Work,
  total: T,
  rows: Fragment,
  ...[bytes]: T extends { bytes: number } ? [bytes: Fragment] : []
): Promise<void> {
  const { what, limit } = total;
  const maxBytes = 'bytes' in total ? total.bytes : Number.POSITIVE_INFINITY;
  const size = bytes ?? sql.fragment`0`;
  const state = () =>
    work.one(sql.type(stateRow)`
      SELECT count(*)::int AS count, coalesce(sum(bytes), 0)::float8 AS bytes FROM (SELECT ${size} AS bytes FROM ${rows} LIMIT ${limit + 1}) counted`);
  const before = await state();
  if (before.count < limit * 0.9 && before.bytes < maxBytes * 0.9) return;
  await work.run(sql.unsafe`SELECT pg_advisory_xact_lock(hashtext(${what}), ${work.realmId})`);
  const after = await state();
  if (after.count > limit) throw badRequest(`Too many ${what} (limit: ${limit})`);
  if (after.bytes > maxBytes) throw badRequest(`Too much text in ${what} (limit: ${maxBytes / 1024} KiB)`);
}
