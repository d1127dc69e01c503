import { badRequest, socialOperations, type UserStatus } from '@natter/contracts';
import { type Executor, sql, type Work } from '@natter/database';
import { emojiNames, unicodeEmoji } from '@natter/markdown';
import { type Handlers, handle, type Owner } from '@natter/service-kit';
import { z } from 'zod';
import { lockAccount, noSuchUser } from '../accounts/find-account.ts';
import { change } from '../change.ts';
import { holderOf, requireAdministrator } from '../groups/holder.ts';
import { readEmoji } from '../realm/emoji.ts';
import { announceSetting } from '../settings/settings-events.ts';
import { hiddenFrom } from '../sight/sight.ts';
import type { SnapshotPart } from '../snapshot-part.ts';

const maxText = 60;
const statusRow = z.object({
  user_id: z.number(),
  away: z.boolean(),
  status_text: z.string(),
  emoji_name: z.string(),
  emoji_code: z.string(),
  reaction_type: z.string(),
});
type StatusRow = z.infer<typeof statusRow>;

interface Given {
  away?: boolean | undefined;
  status_text?: string | undefined;
  emoji_name?: string | undefined;
  emoji_code?: string | undefined;
  reaction_type?: string | undefined;
}

export function userStatusHandlers(owner: Owner): Handlers {
  return [
    handle(socialOperations.updateOwnStatus, async (context, params) =>
      change(owner, context, (work) => update(work, context.actor.userId, params)),
    ),

    handle(socialOperations.updateStatus, async (context, params) =>
      change(owner, context, async (work) => {
        requireAdministrator(await holderOf(work, context.actor.userId));
        return update(work, params.user_id, params);
      }),
    ),

    handle(socialOperations.getStatus, async ({ actor }, { user_id }) => {
      if ((await hiddenFrom(owner.database, actor.realmId, actor)).has(user_id)) throw noSuchUser();
      const [row] = await readStatus(
        owner.database,
        actor.realmId,
        sql.fragment`account.id = ${user_id} AND NOT account.is_system_bot`,
      );
      if (!row) throw noSuchUser();
      return { status: toStatus(row) };
    }),
  ];
}

async function update(work: Work, userId: number, given: Given): Promise<Record<string, never>> {
  if (Object.values({ ...given, user_id: undefined }).every((value) => value === undefined))
    throw badRequest('Client did not pass any new values.');
  const status_text = given.status_text?.trim();
  if (status_text !== undefined && [...status_text].length > maxText)
    throw badRequest(`status_text is too long (limit: ${maxText} characters)`);
  const emoji = await checkedEmoji(work, given);
  const row = await lockAccount(work, userId);
  if (!row) throw noSuchUser();
  if (!row.is_active) throw badRequest('User is deactivated');
  const [before] = await readStatus(work, work.realmId, sql.fragment`account.id = ${userId}`);
  if (!before) throw noSuchUser();
  const after = { ...before, ...(status_text === undefined ? {} : { status_text }), ...emoji };
  const changes = { ...(status_text === undefined ? {} : { status_text }), ...emoji };
  const isChanged = Object.entries(changes).some(([name, value]) => before[name as keyof StatusRow] !== value);
  if (isChanged) {
    await work.run(sql.unsafe`
      INSERT INTO users.user_status (user_id, status_text, emoji_name, emoji_code, reaction_type)
      VALUES (${userId}, ${after.status_text}, ${after.emoji_name}, ${after.emoji_code}, ${after.reaction_type})
      ON CONFLICT (user_id) DO UPDATE SET status_text = excluded.status_text, emoji_name = excluded.emoji_name,
        emoji_code = excluded.emoji_code, reaction_type = excluded.reaction_type`);
    work.emit({ type: 'user_status', body: { user_id: userId, ...changes }, audience: 'realm' });
  }
  // Deprecated: to be away is to share no presence.
  if (given.away !== undefined && given.away !== before.away) {
    await work.run(sql.unsafe`
      UPDATE users.account SET settings = settings || ${JSON.stringify({ presence_enabled: !given.away })}::jsonb WHERE id = ${userId}`);
    announceSetting(work, row, 'presence_enabled', !given.away);
  }
  return {};
}

/** All three parts of the emoji, or none where none was given; empty ones take it away. */
async function checkedEmoji(work: Work, { emoji_name, emoji_code, reaction_type }: Given) {
  const none = { emoji_name: '', emoji_code: '', reaction_type: '' };
  if (emoji_name === undefined) {
    if (emoji_code !== undefined || reaction_type !== undefined)
      throw badRequest('Client must pass emoji_name if they pass either emoji_code or reaction_type.');
    return {};
  }
  if (emoji_name === '') {
    if (emoji_code || reaction_type)
      throw badRequest('Client must pass emoji_name if they pass either emoji_code or reaction_type.');
    return none;
  }
  const own = Object.values(await readEmoji(work, work.realmId)).filter((emoji) => !emoji.deactivated);
  const realmEmoji = own.find((emoji) => emoji.name === emoji_name);
  const type =
    reaction_type ?? (realmEmoji ? 'realm_emoji' : emoji_name === 'zulip' ? 'zulip_extra_emoji' : 'unicode_emoji');
  const code = emoji_code ?? (realmEmoji?.id || (type === 'zulip_extra_emoji' ? 'zulip' : unicodeEmoji(emoji_name)));
  if (code === undefined) throw badRequest(`Emoji '${emoji_name}' does not exist`);
  if (type === 'unicode_emoji') {
    const names = emojiNames.get(code);
    if (!names) throw badRequest('Invalid emoji code.');
    if (!names.includes(emoji_name)) throw badRequest('Invalid emoji name.');
  } else if (type === 'realm_emoji') {
    const named = own.find((emoji) => emoji.id === code);
    if (!named) throw badRequest('Invalid custom emoji.');
    if (named.name !== emoji_name) throw badRequest('Invalid custom emoji name.');
  } else if (type === 'zulip_extra_emoji') {
    if (code !== 'zulip' || emoji_name !== 'zulip') throw badRequest('Invalid emoji code.');
  } else throw badRequest('Invalid emoji type.');
  return { emoji_name, emoji_code: code, reaction_type: type };
}

const isAway = sql.fragment`coalesce((account.settings->>'presence_enabled')::boolean, true) = false`;

const readStatus = (executor: Executor, realmId: number, condition: ReturnType<typeof sql.fragment>) =>
  executor.any(sql.type(statusRow)`
    SELECT account.id AS user_id, ${isAway} AS away, coalesce(s.status_text, '') AS status_text, coalesce(s.emoji_name, '') AS emoji_name,
      coalesce(s.emoji_code, '') AS emoji_code, coalesce(s.reaction_type, '') AS reaction_type
    FROM users.account LEFT JOIN users.user_status s ON s.user_id = account.id
    WHERE account.realm_id = ${realmId} AND ${condition} ORDER BY account.id`);

export const noStatus = { away: false, status_text: '', emoji_name: '', emoji_code: '', reaction_type: '' };

/** Of somebody who comes, or comes back: their status appears. Of somebody who is deactivated: it is gone. */
export async function announceStatus(work: Work, userId: number, isHere: boolean): Promise<void> {
  const [row] = await readStatus(work, work.realmId, sql.fragment`account.id = ${userId}`);
  const status = row ? toStatus(row) : {};
  if (Object.keys(status).length === 0) return;
  const body = { user_id: userId, ...(isHere ? status : noStatus) };
  work.emit({ type: 'user_status', body, audience: 'realm' });
}

/** Of active people who have anything set: these, or all in the realm. */
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

/** Only what is set. */
const toStatus = ({ away, status_text, emoji_name, emoji_code, reaction_type }: StatusRow): UserStatus => ({
  ...(away ? { away } : {}),
  ...(status_text ? { status_text } : {}),
  ...(emoji_name ? { emoji_name, emoji_code, reaction_type } : {}),
});

export const userStatusSnapshot: SnapshotPart = {
  types: ['user_status'],
  read: async (executor, { realmId, viewer }) => {
    if (!viewer) return { user_status: {} };
    const hidden = await hiddenFrom(executor, realmId, viewer);
    const statuses = [...(await readStatuses(executor, realmId))].filter(([userId]) => !hidden.has(userId));
    return { user_status: Object.fromEntries(statuses) };
  },
};
