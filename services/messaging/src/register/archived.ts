import { type Executor, sql } from '@natter/database';
import { z } from 'zod';
import type { SnapshotFor } from '../model/snapshot-for.ts';

const none: ReadonlySet<number> = new Set();

/** Archived channels, which a register leaves out for clients that do not support them; empty for all others. */
export async function leftOut(
  executor: Executor,
  { realmId, capabilities }: Pick<SnapshotFor, 'realmId' | 'capabilities'>,
): Promise<ReadonlySet<number>> {
  if (capabilities.archived_channels) return none;
  const rows = await executor.any(sql.type(z.object({ channel_id: z.number() }))`
    SELECT channel_id FROM messaging.channel WHERE realm_id = ${realmId} AND is_archived`);
  return new Set(rows.map((row) => row.channel_id));
}
