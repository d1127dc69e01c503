import type { LogEvent } from '@natter/contracts';
import { sql, type Work } from '@natter/database';
import { z } from 'zod';
import { groupMention } from '../model/names-in-notices.ts';
import { queueNotice } from '../model/notice.ts';
import { mentionOf } from './mentioned.ts';

const nameRow = z.object({ name: z.string() });

/** Maintains names of groups, and notifies users whom another user added to or removed from a group. */
export async function groupAdded(work: Work, { body: { group }, note }: LogEvent<'user_group/add'>): Promise<void> {
  await storeName(work, group.id, group.name);
  if (note) await tell(work, group.id, note.added, 'added you to');
}

export async function groupUpdated(work: Work, { body }: LogEvent<'user_group/update'>): Promise<void> {
  if (body.data.name !== undefined) await storeName(work, body.group_id, body.data.name);
}

export async function membersAdded(work: Work, { body, note }: LogEvent<'user_group/add_members'>): Promise<void> {
  if (note) await tell(work, body.group_id, note.added, 'added you to');
}

export async function membersRemoved(work: Work, event: LogEvent<'user_group/remove_members'>): Promise<void> {
  if (event.note) await tell(work, event.body.group_id, event.note.removed, 'removed you from');
}

/** Processes of the previous release read `group_name` during an upgrade; this release does not (ADR 21). */
async function storeName(work: Work, groupId: number, name: string): Promise<void> {
  await work.run(sql.unsafe`
    INSERT INTO messaging.group_name (realm_id, group_id, name) VALUES (${work.realmId}, ${groupId}, ${name})
    ON CONFLICT (realm_id, group_id) DO UPDATE SET name = excluded.name`);
}

interface Membership {
  by: number;
  user_ids: readonly number[];
}

async function tell(work: Work, groupId: number, { by, user_ids }: Membership, what: string): Promise<void> {
  const people = await peopleAmong(work, user_ids);
  if (people.length === 0) return;
  const known = await work.maybeOne(
    sql.type(nameRow)`SELECT name FROM messaging.user_group WHERE realm_id = ${work.realmId} AND group_id = ${groupId}`,
  );
  const content = `${await mentionOf(work, work.realmId, by)} ${what} the group ${groupMention(known?.name ?? '')}.`;
  for (const userId of people)
    await queueNotice(work, { from: 'Notification Bot', to: { userIds: [userId] }, content });
}

async function peopleAmong(work: Work, userIds: readonly number[]): Promise<number[]> {
  const rows = await work.any(sql.type(z.object({ user_id: z.number() }))`
    SELECT user_id FROM messaging.person
    WHERE realm_id = ${work.realmId} AND NOT is_bot AND is_active AND user_id = ANY(${sql.array([...userIds], 'int4')}) ORDER BY user_id`);
  return rows.map((row) => row.user_id);
}
