import { badRequest, type totals } from '@natter/contracts';

import { z } from 'zod';
import { sql } from './database.ts';
import type { Work } from './unit-of-work.ts';

const countRow = z.object({ count: z.number() });

/**
 * Refuses a unit that has added more rows to a collection than the collection may hold. Call it after the INSERT; `rows` follows FROM and
 * names the whole collection. Far from the limit it only counts; near the limit units of the realm take turns, so that two at once
 * cannot exceed it.
 */
export async function requireRoom(
  work: Work,
  { what, limit }: (typeof totals)[keyof typeof totals],
  rows: ReturnType<typeof sql.fragment>,
): Promise<void> {
  const count = async () =>
    (
      await work.one(
        sql.type(countRow)`SELECT count(*)::int AS count FROM (SELECT FROM ${rows} LIMIT ${limit + 1}) counted`,
      )
    ).count;
  if ((await count()) < limit * 0.9) return;
  await work.run(sql.unsafe`SELECT pg_advisory_xact_lock(hashtext(${what}), ${work.realmId})`);
  if ((await count()) > limit) throw badRequest(`Too many ${what} (limit: ${limit})`);
}
