import { sql, type Work } from '@natter/database';
import { z } from 'zod';

const lockedRow = z.object({ id: z.number(), topic: z.string(), sent: z.number() });
export type LockedMessage = z.infer<typeof lockedRow>;

/**
 * Locks the messages `m` of a condition, the first `most` by id. Requests that change several messages lock them here, in
 * ascending order: two of them wait for each other in one direction only.
 */
export const lockMessages = (
  work: Work,
  where: ReturnType<typeof sql.fragment>,
  most: number,
): Promise<readonly LockedMessage[]> =>
  work.any(sql.type(lockedRow)`
    SELECT m.id, m.topic, extract(epoch FROM m.sent_at)::float8 AS sent FROM messaging.message m
    WHERE m.realm_id = ${work.realmId} AND ${where} ORDER BY m.id LIMIT ${most} FOR UPDATE OF m`);
