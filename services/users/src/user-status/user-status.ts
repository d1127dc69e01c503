import { badRequest, entriesOf, socialOperations } from '@natter/contracts';
import { sql, type Work } from '@natter/database';
import { emojiCode, emojiNames, unicodeEmoji } from '@natter/markdown';
import { type Handlers, handle, handleWrite, type Owner } from '@natter/service-kit';
import { lockAccount, noSuchUser } from '../model/find-account.ts';
import { readEmoji } from '../model/realm-emoji.ts';
import { announceOwnSetting } from '../model/settings-events.ts';
import type { SnapshotPart } from '../model/snapshot-part.ts';
import { noEmoji, readStatus, readStatuses, toStatus } from '../model/user-status.ts';
import { hiddenFrom, lockUserVisibility } from '../model/user-visibility.ts';

const maxText = 60;

interface Given {
  away?: boolean | undefined;
  status_text?: string | undefined;
  emoji_name?: string | undefined;
  emoji_code?: string | undefined;
  reaction_type?: string | undefined;
}

export function userStatusHandlers(owner: Owner): Handlers {
  return [
    handleWrite(socialOperations.updateOwnStatus, async (context, params) =>
      context.write((work) => update(work, context.actor.userId, params)),
    ),

    handleWrite(socialOperations.updateStatus, async (context, params) =>
      context.write((work) => update(work, params.user_id, params)),
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
  await lockUserVisibility(work);
  const row = await lockAccount(work, userId);
  if (!row) throw noSuchUser();
  if (!row.is_active) throw badRequest('User is deactivated');
  const [before] = await readStatus(work, work.realmId, sql.fragment`account.id = ${userId}`);
  if (!before) throw noSuchUser();
  const after = { ...before, ...(status_text === undefined ? {} : { status_text }), ...emoji };
  const changes = { ...(status_text === undefined ? {} : { status_text }), ...emoji };
  const isChanged = entriesOf(changes).some(([name, value]) => before[name] !== value);
  if (isChanged)
    await work.run(sql.unsafe`
      INSERT INTO users.user_status (user_id, status_text, emoji_name, emoji_code, reaction_type)
      VALUES (${userId}, ${after.status_text}, ${after.emoji_name}, ${after.emoji_code}, ${after.reaction_type})
      ON CONFLICT (user_id) DO UPDATE SET status_text = excluded.status_text, emoji_name = excluded.emoji_name,
        emoji_code = excluded.emoji_code, reaction_type = excluded.reaction_type`);
  // Deprecated: being away means not sharing presence.
  if (given.away !== undefined && given.away !== before.away) {
    await work.run(sql.unsafe`
      UPDATE users.account SET settings = settings || ${JSON.stringify({ presence_enabled: !given.away })}::jsonb WHERE id = ${userId}`);
    announceOwnSetting(work, row, 'presence_enabled', !given.away);
  }
  // The event contains all given fields, even if their values did not change.
  const away = given.away === undefined ? {} : { away: given.away };
  work.emit({ type: 'user_status', body: { user_id: userId, ...away, ...changes }, audience: 'realm' });
  return {};
}

/** All three fields of the emoji, or undefined if none was given; empty ones remove it. */
async function checkedEmoji(work: Work, { emoji_name, emoji_code, reaction_type }: Given) {
  if (emoji_name === undefined) {
    if (emoji_code !== undefined || reaction_type !== undefined)
      throw badRequest('Client must pass emoji_name if they pass either emoji_code or reaction_type.');
    return {};
  }
  if (emoji_name === '') {
    if (emoji_code || reaction_type)
      throw badRequest('Client must pass emoji_name if they pass either emoji_code or reaction_type.');
    return noEmoji;
  }
  const own = Object.values(await readEmoji(work, work.realmId)).filter((emoji) => !emoji.deactivated);
  const realmEmoji = own.find((emoji) => emoji.name === emoji_name);
  const type =
    reaction_type ?? (realmEmoji ? 'realm_emoji' : emoji_name === 'zulip' ? 'zulip_extra_emoji' : 'unicode_emoji');
  const named = realmEmoji?.id || (type === 'zulip_extra_emoji' ? 'zulip' : unicodeEmoji(emoji_name));
  const code = emoji_code === undefined ? named : emojiCode(emoji_code);
  if (code === undefined) throw badRequest(`Emoji '${emoji_name}' does not exist`);
  if (type === 'unicode_emoji') {
    const names = emojiNames.get(code);
    if (!names) throw badRequest('Invalid emoji code.');
    if (!names.includes(emoji_name)) throw badRequest('Invalid emoji name.');
  } else if (type === 'realm_emoji') {
    const custom = own.find((emoji) => emoji.id === code);
    if (!custom) throw badRequest('Invalid custom emoji.');
    if (custom.name !== emoji_name) throw badRequest('Invalid custom emoji name.');
  } else if (type === 'zulip_extra_emoji') {
    if (code !== 'zulip' || emoji_name !== 'zulip') throw badRequest('Invalid emoji code.');
  } else throw badRequest('Invalid emoji type.');
  return { emoji_name, emoji_code: code, reaction_type: type };
}

export const userStatusSnapshot: SnapshotPart = {
  types: ['user_status'],
  read: async (executor, { realmId, viewer }) => {
    const hidden = await hiddenFrom(executor, realmId, viewer);
    const statuses = [...(await readStatuses(executor, realmId))].filter(([userId]) => !hidden.has(userId));
    return { user_status: Object.fromEntries(statuses) };
  },
  spectators: { user_status: {} },
};
