import type { LogEvent } from '@natter/contracts';
import { sql, type Work } from '@natter/database';
import { z } from 'zod';
import { groupMention } from '../model/names-in-notices.ts';
import { queueNotice } from '../model/notice.ts';
import { mentionOf } from './mentioned.ts';

const nameRow = z.object({ name: z.string() });

/** Notifies users whom another user added to or removed from a group. */
export async function groupAdded(work: Work, { body: { group }, note }: LogEvent<'user_group/add'>): Promise<void> {
  if (note) await tell(work, group.id, note.added, 'added you to');
}

export async function membersAdded(work: Work, { body, note }: LogEvent<'user_group/add_members'>): Promise<void> {
  if (note) await tell(work, body.group_id, note.added, 'added you to');
}

export async function membersRemoved(work: Work, event: LogEvent<'user_group/remove_members'>): Promise<void> {
  if (event.note) await tell(work, event.body.group_id, event.note.removed, 'removed you from');
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
