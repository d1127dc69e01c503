import { type LogEvent, limits } from '@natter/contracts';
import { sql, type Work } from '@natter/database';
import { z } from 'zod';
import { queueNotice } from '../model/notice.ts';
import { groupMention, type NoticeText, notice } from '../model/notice-text.ts';
import { mentionNamed } from './mentioned.ts';
import { mayNotify } from './notice-allowance.ts';

/** Notifies users whom another user added to or removed from a group. */
export async function groupAdded(work: Work, { body: { group }, note }: LogEvent<'user_group/add'>): Promise<void> {
  if (note) await notifyMembers(work, group.id, note.added, notice`added you to`);
}

export async function membersAdded(work: Work, { body, note }: LogEvent<'user_group/add_members'>): Promise<void> {
  if (note) await notifyMembers(work, body.group_id, note.added, notice`added you to`);
}

export async function membersRemoved(work: Work, event: LogEvent<'user_group/remove_members'>): Promise<void> {
  if (event.note) await notifyMembers(work, event.body.group_id, event.note.removed, notice`removed you from`);
}

interface Membership {
  by: number;
  user_ids: readonly number[];
}

const toldRow = z.object({
  group_name: z.string().nullable(),
  by_name: z.string().nullable(),
  told: z.array(z.number()),
});

async function notifyMembers(
  work: Work,
  groupId: number,
  { by, user_ids }: Membership,
  what: NoticeText,
): Promise<void> {
  const { group_name, by_name, told } = await work.one(sql.type(toldRow)`
    SELECT
      (SELECT name FROM messaging.user_group WHERE realm_id = ${work.realmId} AND group_id = ${groupId}) AS group_name,
      (SELECT full_name FROM messaging.person WHERE realm_id = ${work.realmId} AND user_id = ${by}) AS by_name,
      ARRAY(SELECT user_id FROM messaging.person WHERE realm_id = ${work.realmId} AND NOT is_bot AND is_active
        AND user_id = ANY(${sql.array([...user_ids], 'int4')}) ORDER BY user_id) AS told`);
  // The same limit as for subscriptions, because otherwise one request could send a message to all users.
  if (told.length === 0 || told.length > limits.bulkNewSubscriptionMessages) return;
  if (!(await mayNotify(work, by, told.length))) return;
  const content = notice`${mentionNamed(by_name, by)} ${what} the group ${groupMention(group_name ?? '')}.`;
  await queueNotice(work, { from: 'Notification Bot', to: { each: told }, content });
}
