import type { UserStatus } from '@natter/contracts';
import { type Executor, sql, type Work } from '@natter/database';
import { z } from 'zod';

const statusRow = z.object({
  user_id: z.number(),
  away: z.boolean(),
  status_text: z.string(),
  emoji_name: z.string(),
  emoji_code: z.string(),
  reaction_type: z.string(),
});
export type StatusRow = z.infer<typeof statusRow>;

const isAway = sql.fragment`coalesce((account.settings->>'presence_enabled')::boolean, true) = false`;

export const readStatus = (executor: Executor, realmId: number, condition: ReturnType<typeof sql.fragment>) =>
  executor.any(sql.type(statusRow)`
    SELECT account.id AS user_id, ${isAway} AS away, coalesce(s.status_text, '') AS status_text, coalesce(s.emoji_name, '') AS emoji_name,
      coalesce(s.emoji_code, '') AS emoji_code, coalesce(s.reaction_type, '') AS reaction_type
    FROM users.account LEFT JOIN users.user_status s ON s.user_id = account.id
    WHERE account.realm_id = ${realmId} AND ${condition} ORDER BY account.id`);

export const noEmoji = { emoji_name: '', emoji_code: '', reaction_type: 'unicode_emoji' };
export const noStatus = { away: false, status_text: '', ...noEmoji };

/** The status of a new or reactivated user appears; that of a deactivated user disappears. */
export async function announceStatus(work: Work, userId: number, isHere: boolean): Promise<void> {
  const [row] = await readStatus(work, work.realmId, sql.fragment`account.id = ${userId}`);
  const status = row ? toStatus(row) : {};
  if (Object.keys(status).length === 0) return;
  const body = { user_id: userId, ...(isHere ? status : noStatus) };
  work.emit({ type: 'user_status', body, audience: 'realm' });
}

/** The status of active users who have set one: of these users, or of all in the realm. */
export async function readStatuses(
  executor: Executor,
  realmId: number,
  userIds?: readonly number[],
): Promise<Map<number, UserStatus>> {
  const among =
    userIds === undefined ? sql.fragment`true` : sql.fragment`account.id = ANY(${sql.array([...userIds], 'int4')})`;
  const isSet = sql.fragment`(${isAway} OR s.status_text <> '' OR s.emoji_name <> '')`;
  const rows = await readStatus(executor, realmId, sql.fragment`account.is_active AND ${isSet} AND ${among}`);
  return new Map(rows.map((row) => [row.user_id, toStatus(row)]));
}

/** The status in the form of the API, without fields that are not set. */
export const toStatus = ({ away, status_text, emoji_name, emoji_code, reaction_type }: StatusRow): UserStatus => ({
  ...(away ? { away } : {}),
  ...(status_text ? { status_text } : {}),
  ...(emoji_name ? { emoji_name, emoji_code, reaction_type } : {}),
});
