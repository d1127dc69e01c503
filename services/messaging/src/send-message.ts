import {
  type Actor,
  badRequest,
  idSet,
  type LogEvent,
  limits,
  messagingOperations,
  type ParamsOf,
} from '@natter/contracts';
import { type Decided, type Idempotency, sql } from '@natter/database';
import { emptyContext, render } from '@natter/markdown';
import { type Handlers, handle, idempotencyOf, type Owner, type UserContext } from '@natter/service-kit';
import type { ChannelCache } from './channel-cache.ts';
import { type Destination, findDestination } from './destination.ts';
import { findPeople, type Person } from './people.ts';

type Params = ParamsOf<typeof messagingOperations.sendMessage>;

export function sendHandlers(owner: Owner, channels: ChannelCache): Handlers {
  return [
    handle(messagingOperations.sendMessage, async (context, params) => {
      const { actor, meta } = context;
      const content = checkedContent(params.content);
      const destination = await findDestination(
        { database: owner.database, channels },
        actor,
        meta,
        params,
        context.attempt > 0,
      );
      const [sender] = await findPeople(owner.database, actor.realmId, [actor.userId]);
      const idempotency = idempotencyOfSend(context, params);
      const decided = decide(actor, sender, destination, content, params, meta.client, idempotency);
      return { id: await owner.commit(actor.realmId, decided) };
    }),
  ];
}

export function checkedContent(content: string): string {
  const stripped = content.trimEnd();
  if (stripped.trim() === '') throw badRequest('Message must not be empty');
  if ([...stripped].length > limits.messageLength)
    throw badRequest(`content is too long (limit: ${limits.messageLength} characters)`);
  return stripped;
}

/** `queue_id` and `local_id` name a send as well as a key does: stock clients retry without one. */
function idempotencyOfSend(context: UserContext, params: Params): Idempotency | undefined {
  const named = idempotencyOf(context, 'send-message', params);
  if (named || params.queue_id === undefined || params.local_id === undefined) return named;
  return {
    userId: context.actor.userId,
    key: `local:${params.queue_id}:${params.local_id}`,
    fingerprint: `send-message ${JSON.stringify(params)}`,
  };
}

const interactiveClients =
  /^(zulipandroid|zulipios|zulipdesktop|zulipmobile|zulipelectron|zulipterminal|zulipflutter|snipe|website|ios|android)$|desktop app/i;
export const isInteractiveClient = (client: string): boolean => interactiveClients.test(client);

export function decide(
  actor: Actor,
  sender: Person | undefined,
  destination: Destination,
  content: string,
  params: Params,
  client: string,
  idempotency: Idempotency | undefined,
): Decided {
  const rendered = render(content, emptyContext);
  const isReadBySender = params.read_by_sender ?? isInteractiveClient(client);
  const topic = destination.kind === 'channel' ? destination.topic : '';
  const timestamp = Math.floor(Date.now() / 1000);
  const message = {
    avatar_url: `/avatar/${actor.userId}?version=1`,
    client,
    content: rendered.html,
    content_type: 'text/html',
    is_me_message: rendered.isMeMessage,
    reactions: [],
    sender_id: actor.userId,
    sender_email: actor.email,
    sender_full_name: sender?.full_name ?? actor.email,
    sender_realm_str: '',
    subject: topic,
    submessages: [],
    timestamp,
    topic_links: [],
    ...recipientPart(destination),
  };
  const event: LogEvent = {
    type: 'message',
    body: { message },
    audience: { users: destination.audience },
    message: {
      ...(destination.kind === 'channel' ? { channelId: destination.channel.channel_id } : {}),
      isPublic: destination.kind === 'channel' && !destination.channel.is_private,
      topic,
      senderId: actor.userId,
      source: content,
      flags: isReadBySender ? [{ flag: 'read', users: idSet([actor.userId]) }] : [],
      ...(params.queue_id !== undefined && params.local_id !== undefined
        ? { local: { queueId: params.queue_id, localId: params.local_id } }
        : {}),
    },
  };
  const { realmId } = actor;
  const channelId = destination.kind === 'channel' ? destination.channel.channel_id : null;
  const recipients =
    destination.kind === 'direct'
      ? sql.array(
          destination.people.map((person) => person.user_id),
          'int4',
        )
      : sql.fragment`NULL::int[]`;
  const conversation =
    destination.kind === 'direct' ? destination.people.map((person) => person.user_id).join(',') : null;
  return {
    basis: { ...actor.basis, ...destination.basis },
    events: [event],
    idempotency,
    numbered: (fromEnd) => [
      sql.unsafe`INSERT INTO messaging.message (realm_id, id, sender_id, channel_id, sent_channel_id, topic, recipient_ids, conversation, content, rendered_content, client,
          is_read_by_sender, has_link, has_image)
        VALUES (${realmId}, log.last_number(${realmId}) - ${fromEnd}, ${actor.userId}, ${channelId}, ${channelId}, ${topic}, ${recipients}, ${conversation}, ${content}, ${rendered.html}, ${client},
          ${isReadBySender}, ${rendered.hasLink}, ${rendered.hasImage})`,
      ...(destination.kind === 'direct'
        ? [
            sql.unsafe`INSERT INTO messaging.direct_message (realm_id, user_id, message_id)
              SELECT ${realmId}, u, log.last_number(${realmId}) - ${fromEnd} FROM unnest(${recipients}) u`,
          ]
        : []),
    ],
  };
}

function recipientPart(destination: Destination): Record<string, unknown> {
  if (destination.kind === 'channel')
    return {
      type: 'stream',
      stream_id: destination.channel.channel_id,
      display_recipient: destination.channel.name,
      recipient_id: destination.channel.channel_id,
    };
  const people = destination.people.map((person) => ({
    id: person.user_id,
    email: person.email,
    full_name: person.full_name,
    is_mirror_dummy: false,
  }));
  return { type: 'private', display_recipient: people, recipient_id: destination.people[0]?.user_id ?? 0 };
}
