import {
  type Actor,
  badRequest,
  ChatError,
  isAdministrator,
  type LogEvent,
  messageChangeOperations,
  type ParamsOf,
  type RequestMeta,
  totals,
} from '@natter/contracts';
import { requireRoom, requireShare, sql, type Work } from '@natter/database';
import { emojiCode } from '@natter/markdown';
import type { RealmPolicies, UserVisibility } from '@natter/realm-policy';
import { type Handlers, handleWrite, type Owner } from '@natter/service-kit';
import { z } from 'zod';
import { type MessageAccess, type ReadableMessage, requireChangeable } from '../model/message-access.ts';
import { audienceOf, holdMessage, withActor } from '../model/message-audience.ts';
import { checkedEmoji, type Emoji, emojiByName, typeByName } from '../model/named-emoji.ts';
import { isOfPerson } from '../model/owner-of.ts';
import { readRealmEmoji } from '../model/realm-emoji.ts';
import { participate } from '../model/sending/participation.ts';
import { type UnknownActor, unknownActor } from '../model/unknown-actor.ts';

const emojiRow = z.object({
  emoji_name: z.string(),
  emoji_code: z.string(),
  reaction_type: z.enum(['unicode_emoji', 'realm_emoji', 'zulip_extra_emoji']),
});

export function reactionHandlers(
  { database }: Owner,
  access: MessageAccess,
  whom: { policies: RealmPolicies; userVisibility: UserVisibility },
): Handlers {
  return [
    handleWrite(messageChangeOperations.addReaction, async (context, params) => {
      const { actor, meta } = context;
      const message = await access.readable(database, actor, meta, params.message_id);
      requireChangeable(message.channel);
      const realmEmoji = await readRealmEmoji(database, actor.realmId);
      const unknown = await unknownTo(actor, meta, message);
      return context.write(async (work) => {
        await holdMessage(work, message);
        const { emoji_name: name } = params;
        // Unspecified values are derived from the name.
        const code =
          params.emoji_code === undefined ? emojiByName(name, realmEmoji).emoji_code : emojiCode(params.emoji_code);
        const type = params.reaction_type || typeByName(name, realmEmoji);
        const emoji = (await alreadyThere(work, message.id, code, type)) ?? checkedEmoji(name, code, type, realmEmoji);
        const added = await work.run(sql.unsafe`
          INSERT INTO messaging.reaction (realm_id, message_id, user_id, emoji_name, emoji_code, reaction_type)
          VALUES (${work.realmId}, ${message.id}, ${actor.userId}, ${emoji.emoji_name}, ${emoji.emoji_code}, ${emoji.reaction_type})
          ON CONFLICT DO NOTHING`);
        if (added === 0) throw new ChatError('REACTION_ALREADY_EXISTS', 'Reaction already exists.');
        await requireRoomForReaction(work, actor, message.id);
        work.emit(await reactionEvent(work, 'add', { message, emoji, actor, unknown }));
        await participate(work, actor, message.id);
        return {};
      });
    }),

    handleWrite(messageChangeOperations.removeReaction, async (context, params) => {
      const { actor, meta } = context;
      const { emoji_name: name, emoji_code: code } = params;
      if (name === undefined && code === undefined)
        throw badRequest('At least one of the following arguments must be present: emoji_name, emoji_code');
      const message = await access.readable(database, actor, meta, params.message_id);
      requireChangeable(message.channel);
      const unknown = await unknownTo(actor, meta, message);
      return context.write(async (work) => {
        await holdMessage(work, message);
        // A deactivated emoji can still be removed by the name under which it was added.
        const gone = await work.maybeOne(sql.type(emojiRow)`
          DELETE FROM messaging.reaction WHERE realm_id = ${work.realmId} AND message_id = ${message.id} AND user_id = ${actor.userId}
            AND ${await which(work, message, actor, params)}
          RETURNING emoji_name, emoji_code, reaction_type`);
        if (!gone) throw new ChatError('REACTION_DOES_NOT_EXIST', "Reaction doesn't exist.");
        work.emit(await reactionEvent(work, 'remove', { message, emoji: gone, actor, unknown }));
        return {};
      });
    }),
  ];

  /**
   * Subscribers of the channel may receive the event, in a web-public one also other guests; participants of a direct
   * conversation can see each other.
   */
  async function unknownTo(actor: Actor, meta: RequestMeta, { channel }: ReadableMessage) {
    const audience = channel?.is_web_public ? 'realm' : channel?.subscribers;
    return audience && unknownActor(whom, actor, meta, { audience, called: [] });
  }

  async function which(
    work: Work,
    message: ReadableMessage,
    actor: Actor,
    {
      emoji_name: name,
      emoji_code: code,
      reaction_type: type,
    }: ParamsOf<typeof messageChangeOperations.removeReaction>,
  ) {
    if (code !== undefined)
      return sql.fragment`emoji_code = ${emojiCode(code)} AND reaction_type = ${type || 'unicode_emoji'}`;
    const own = await work.maybeOne(sql.type(emojiRow)`
      SELECT emoji_name, emoji_code, reaction_type FROM messaging.reaction
      WHERE realm_id = ${work.realmId} AND message_id = ${message.id} AND user_id = ${actor.userId} AND emoji_name = ${name ?? ''} LIMIT 1`);
    const emoji = own ?? emojiByName(name ?? '', await readRealmEmoji(work, work.realmId));
    return sql.fragment`emoji_code = ${emoji.emoji_code} AND reaction_type = ${emoji.reaction_type}`;
  }
}

/** A user can add a reaction that others have used, under its name, even if the emoji is no longer available. */
const alreadyThere = (work: Work, messageId: number, code: string, type: string): Promise<Emoji | undefined> =>
  work.maybeOne(sql.type(emojiRow)`
    SELECT emoji_name, emoji_code, reaction_type FROM messaging.reaction
    WHERE realm_id = ${work.realmId} AND message_id = ${messageId} AND emoji_code = ${code} AND reaction_type = ${type}
    ORDER BY reacted_at LIMIT 1`);

async function requireRoomForReaction(work: Work, actor: Actor, messageId: number): Promise<void> {
  const rows = sql.fragment`messaging.reaction WHERE realm_id = ${work.realmId} AND message_id = ${messageId}`;
  const own = sql.fragment`${rows} AND ${isOfPerson(actor, sql.fragment`reaction.user_id`)}`;
  if (!isAdministrator(actor)) await requireShare(work, totals.reactions, own);
  await requireRoom(work, totals.reactions, rows);
}

interface Reaction {
  message: ReadableMessage;
  emoji: Emoji;
  actor: Actor;
  /** How the actor is shown to users who may not see them. */
  unknown: UnknownActor | undefined;
}

async function reactionEvent(
  work: Work,
  op: 'add' | 'remove',
  { message, emoji, actor, unknown }: Reaction,
): Promise<LogEvent> {
  const person = await work.maybeOne(sql.type(z.object({ email: z.string(), full_name: z.string() }))`
    SELECT email, full_name FROM messaging.person WHERE realm_id = ${work.realmId} AND user_id = ${actor.userId}`);
  const by = (shown: { email: string; full_name: string }) => ({
    user_id: actor.userId,
    email: shown.email,
    full_name: shown.full_name,
    is_mirror_dummy: false,
  });
  return {
    type: 'reaction',
    op,
    body: {
      message_id: message.id,
      ...emoji,
      user_id: actor.userId,
      user: by(person ?? { email: actor.email, full_name: '' }),
    },
    audience: withActor(await audienceOf(work, message, [message.id]), actor.userId),
    ...(unknown ? { variants: [{ audience: { users: unknown.to }, patch: { user: by(unknown.shown) } }] } : {}),
  };
}
