import type { LogEvent } from '@natter/contracts';
import { sql, type Work } from '@natter/database';
import { z } from 'zod';
import { queueNotice } from '../scheduling/notice.ts';
import { mentionOf } from './mentioned.ts';

const membership = z.object({ by: z.number(), user_ids: z.array(z.number()) });
const groupNote = z.object({ added: membership.optional(), removed: membership.optional() });
const nameRow = z.object({ name: z.string() });

/** Keeps the names of groups; who was put into one or taken out of it by somebody else is told. */
export async function groupChanged(work: Work, { op, body, note }: LogEvent): Promise<void> {
  const group = body.group as { id: number; name: string } | undefined;
  const groupId = group?.id ?? Number(body.group_id);
  const name = group?.name ?? (body.data as { name?: string } | undefined)?.name;
  if (name !== undefined)
    await work.run(sql.unsafe`
      INSERT INTO messaging.group_name (realm_id, group_id, name) VALUES (${work.realmId}, ${groupId}, ${name})
      ON CONFLICT (realm_id, group_id) DO UPDATE SET name = excluded.name`);
  if (op === 'update') return;
  const changed = groupNote.safeParse(note ?? {});
  if (!changed.success) return;
  const { added, removed } = changed.data;
  if (added) await tell(work, groupId, added, 'added you to');
  if (removed) await tell(work, groupId, removed, 'removed you from');
}

async function tell(
  work: Work,
  groupId: number,
  { by, user_ids }: z.infer<typeof membership>,
  what: string,
): Promise<void> {
  const people = await peopleAmong(work, user_ids);
  if (people.length === 0) return;
  const known = await work.maybeOne(
    sql.type(nameRow)`SELECT name FROM messaging.group_name WHERE realm_id = ${work.realmId} AND group_id = ${groupId}`,
  );
  const content = `${await mentionOf(work, work.realmId, by)} ${what} the group @_*${known?.name ?? ''}*.`;
  for (const userId of people)
    await queueNotice(work, { from: 'Notification Bot', to: { userIds: [userId] }, content });
}

async function peopleAmong(work: Work, userIds: readonly number[]): Promise<number[]> {
  const rows = await work.any(sql.type(z.object({ user_id: z.number() }))`
    SELECT user_id FROM messaging.person
    WHERE realm_id = ${work.realmId} AND NOT is_bot AND is_active AND user_id = ANY(${sql.array([...userIds], 'int4')}) ORDER BY user_id`);
  return rows.map((row) => row.user_id);
}
