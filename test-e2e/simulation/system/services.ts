import {
  type Actor,
  ChatError,
  type LogEvent,
  messageChangeOperations,
  messagingOperations,
  roles,
  userOperations,
} from '@natter/contracts';
import { type InsertNumbered, readVersion, sql } from '@natter/database';
import { type Handlers, handle, handleWrite, type Owner } from '@natter/service-kit';
import { z } from 'zod';

/**
 * Minimal services: they decide nothing, but use the same tools as the real ones: units of work, the committer, claims,
 * versions, ephemeral events, projections.
 */

const changesRow = z.object({ changes: z.number() });

export const actorOf = (realmId: number, userId: number, version: number): Actor => ({
  realmId,
  userId,
  email: `user${userId}@example.com`,
  role: roles.owner,
  isBot: false,
  keyId: `${userId}`,
  groupIds: [],
  basis: { [versionKey(userId)]: version },
});
const versionKey = (userId: number): string => `actor:${userId}`;

/** Counts the changes of a user, which must equal the user's version. */
export function usersHandlers({ database }: Owner): Handlers {
  return [
    // Gateways check with a key of nobody whether users can authenticate.
    handle(userOperations.authenticate, () => Promise.reject(new ChatError('INVALID_API_KEY', 'Invalid API key'))),

    handle(userOperations.refreshActor, async ({ meta: { realmId } }, { user_id }) =>
      actorOf(realmId, user_id, await readVersion(database, realmId, versionKey(user_id))),
    ),

    handleWrite(userOperations.updateUser, async ({ actor, write }, { user_id_or_email, full_name }) => {
      const userId = Number(user_id_or_email);
      return write(
        async (work) => {
          const { changes } = await work.one(sql.type(changesRow)`
            UPDATE simulated.account SET changes = changes + ${1}
            WHERE realm_id = ${actor.realmId} AND user_id = ${userId} RETURNING changes`);
          work.bump(versionKey(userId));
          const person = { user_id: userId, full_name: String(changes) };
          work.emit({ type: 'realm_user', op: 'update', body: { person }, audience: 'realm' });
          return {};
        },
        { isQueued: full_name === 'queued' },
      );
    }),
  ];
}

const intoMessages: InsertNumbered = (rows) => sql.unsafe`
  INSERT INTO simulated.message (realm_id, id, content) SELECT m.realm_id, m.number, m.content FROM ${rows(sql.fragment`content text`)} m`;

export function messagingHandlers({ appender }: Owner): Handlers {
  return [
    handleWrite(messagingOperations.sendMessage, async ({ actor, commit }, { content }) =>
      commit({
        expected: actor.basis,
        events: [messageEvent(actor, content)],
        numbered: (from_end) => [{ into: intoMessages, row: { from_end, content } }],
        answer: { named: 'id', rest: {} },
      }),
    ),

    handleWrite(messageChangeOperations.setTyping, async ({ actor }, { topic }) => {
      // Like in the real service, an outage loses only the notification.
      await appender.appendEphemeral(actor.realmId, typingEvent(actor, topic)).catch(() => undefined);
      return {};
    }),
  ];
}

/** Content that begins with `to<user>:` is delivered to that user only. */
function messageEvent(actor: Actor, content: string): LogEvent {
  const to = /^to(\d+):/.exec(content)?.[1];
  const message = {
    type: 'stream',
    display_recipient: 'simulation',
    subject: 'topic',
    content,
    sender_id: actor.userId,
    sender_version: actor.basis[versionKey(actor.userId)],
    avatar_url: null,
    submessages: [],
  };
  return {
    type: 'message',
    body: { message },
    audience: to === undefined ? 'realm' : { users: { ids: [Number(to)] } },
    message: { isPublic: false, topic: 'topic', senderId: actor.userId, source: content, flags: [] },
  } as unknown as LogEvent;
}

/** Events contain only what the checks need. */
const typingEvent = ({ userId }: Actor, topic: string | undefined): LogEvent =>
  ({ type: 'typing', op: 'start', body: { sender_id: userId, topic }, audience: 'realm' }) as unknown as LogEvent;

/** Maintains a projection of each user with all applied events, and emits a consequence of each. */
export function consumePeople(owner: Owner): void {
  owner.consume({
    name: 'people',
    on: {
      'realm_user/add': async () => undefined,
      'realm_user/update': async (work, { body: { person } }, number) => {
        await work.run(sql.unsafe`
          INSERT INTO simulated.person AS p (realm_id, user_id, changes, applied)
          VALUES (${work.realmId}, ${person.user_id}, ${Number(person.full_name)}, ARRAY[${number}::int])
          ON CONFLICT (realm_id, user_id) DO UPDATE SET changes = excluded.changes, applied = p.applied || excluded.applied`);
        work.emit({ type: 'user_topic', body: { caused_by: number }, audience: 'realm' } as unknown as LogEvent);
      },
    },
  });
}
