import {
  type Actor,
  badRequest,
  ChatError,
  emptyTopicDisplayName,
  idSet,
  idsOf,
  type LogEvent,
  messageChangeOperations,
  type ParamsOf,
} from '@natter/contracts';
import { type Handlers, handle, type Logger, type Owner, type RealmPolicies, type Sight } from '@natter/service-kit';
import { requireKnown } from '../acquaintance.ts';
import type { ChannelReach } from '../channel-reach.ts';
import type { MessageReach } from '../message-reach.ts';
import { findPeople, findPeopleByEmail, type Person } from '../people.ts';
import { isOn, whoTurnedOff } from '../personal-settings.ts';
import { type UnknownActor, unknownActor } from '../unknown-actor.ts';

type To = ParamsOf<typeof messageChangeOperations.setTyping>['to'];

/** In a larger channel nobody is told who types. */
const maxSubscribers = 100;

/** Who is typing: told at once to those who want to know, and never stored. */
export function typingHandlers(
  { database, appender }: Owner,
  channels: ChannelReach,
  messages: MessageReach,
  { policies, sight, log }: { policies: RealmPolicies; sight: Sight; log: Logger },
): Handlers {
  return [
    handle(messageChangeOperations.setTyping, async ({ actor, meta }, params) => {
      if (params.type === 'channel' || params.type === 'stream') {
        if (params.stream_id === undefined) throw missingArgument('stream_id');
        if (params.topic === undefined) throw missingArgument('topic');
        await requireOn(actor, 'send_stream_typing_notifications', 'channel');
        const channel = await channels.readable(actor, meta, params.stream_id);
        const topic = topicOf(params.topic);
        const sender = { user_id: actor.userId, email: actor.email };
        const body = { message_type: 'stream', sender, stream_id: channel.channel_id, topic };
        const unknown = await unknownActor({ policies, sight }, actor, meta, channel.subscribers);
        await tell(actor, 'typing', params.op, body, idsOf(channel.subscribers), true, unknown);
        return {};
      }
      const people = await participants(actor, params.to);
      const policy = await policies.get(meta, false);
      requireKnown(people, await sight.hiddenFrom(actor, meta, policy), params.to);
      await requireOn(actor, 'send_private_typing_notifications', 'direct');
      const shown = people.map(({ user_id, email }) => ({ user_id, email }));
      const sender = shown.find(({ user_id }) => user_id === actor.userId);
      const active = people.filter((person) => person.is_active).map((person) => person.user_id);
      const body = { message_type: 'direct', sender, recipients: shown };
      await tell(actor, 'typing', params.op, body, active, false);
      return {};
    }),

    handle(messageChangeOperations.setMessageTyping, async ({ actor, meta }, { message_id, op }) => {
      const message = await messages.readable(database, actor, meta, message_id);
      if (message.sender_id !== actor.userId) throw badRequest("You don't have permission to edit this message");
      const { channel, topic } = message;
      if (channel) {
        await requireOn(actor, 'send_stream_typing_notifications', 'channel');
        const recipient = { type: 'channel', channel_id: channel.channel_id, topic };
        const body = { sender_id: actor.userId, message_id, recipient };
        await tell(actor, 'typing_edit_message', op, body, idsOf(channel.subscribers), true);
        return {};
      }
      await requireOn(actor, 'send_private_typing_notifications', 'direct');
      const userIds = message.recipient_ids ?? [];
      const body = { sender_id: actor.userId, message_id, recipient: { type: 'direct', user_ids: userIds } };
      await tell(actor, 'typing_edit_message', op, body, userIds, false);
      return {};
    }),
  ];

  async function tell(
    actor: Actor,
    type: 'typing' | 'typing_edit_message',
    op: 'start' | 'stop',
    body: Record<string, unknown>,
    receivers: readonly number[],
    isChannel: boolean,
    unknown?: UnknownActor,
  ): Promise<void> {
    if (isChannel && receivers.length > maxSubscribers) return;
    const unwilling = await whoTurnedOff(database, actor.realmId, 'receives_typing_notifications', receivers);
    const willing = receivers.filter((id) => !unwilling.has(id));
    if (willing.length === 0) return;
    const event: LogEvent = { type, op, body, audience: { users: idSet(willing) } };
    if (unknown) {
      const sender = { user_id: actor.userId, email: unknown.shown.email };
      event.variants = [{ audience: { users: unknown.to }, patch: { sender } }];
    }
    const forms: LogEvent['forms'] = [];
    // Clients that know no typing in channels take what has no recipients for a direct message.
    if (isChannel && type === 'typing')
      forms.push({ capability: 'stream_typing_notifications', is: false, patch: null });
    const named = withTopicName(body);
    if (named) forms.push({ capability: 'empty_topic_name', is: false, patch: named });
    // Without Redis the event is dropped: a client repeats it, and the request itself succeeded.
    await appender
      .appendEphemeral(actor.realmId, forms.length > 0 ? { ...event, forms } : event)
      .catch((error: unknown) => log.debug({ err: error }, 'typing event dropped'));
  }

  async function participants(actor: Actor, to: To): Promise<Person[]> {
    if (to === undefined) throw missingArgument('to');
    const list = typeof to === 'string' ? to.split(',').map((email) => email.trim()) : Array.isArray(to) ? to : [to];
    if (list.length === 0) throw badRequest("Empty 'to' list");
    const ids = list.filter((item) => typeof item === 'number');
    const emails = list.filter((item) => typeof item === 'string');
    const found =
      ids.length > 0
        ? await findPeople(database, actor.realmId, [...new Set([...ids, actor.userId])])
        : await findPeopleByEmail(database, actor.realmId, [...emails, actor.email]);
    const unknownId = ids.find((id) => !found.some((person) => person.user_id === id));
    if (unknownId !== undefined) throw badRequest(`Invalid user ID ${unknownId}`);
    const unknown = emails.find((email) => !found.some((person) => person.email.toLowerCase() === email.toLowerCase()));
    if (unknown !== undefined) throw badRequest(`Invalid email '${unknown}'`);
    return found;
  }

  async function requireOn(
    actor: Actor,
    setting: 'send_stream_typing_notifications' | 'send_private_typing_notifications',
    kind: string,
  ): Promise<void> {
    if (!(await isOn(database, actor.realmId, actor.userId, setting)))
      throw badRequest(`User has disabled typing notifications for ${kind} messages`);
  }
}

function topicOf(given: string): string {
  const topic = given.trim();
  return topic === '(no topic)' || topic === emptyTopicDisplayName ? '' : topic;
}

function withTopicName(body: Record<string, unknown>): Record<string, unknown> | undefined {
  if (body.topic === '') return { topic: emptyTopicDisplayName };
  const recipient = body.recipient as { topic?: string } | undefined;
  return recipient?.topic === '' ? { recipient: { ...recipient, topic: emptyTopicDisplayName } } : undefined;
}

const missingArgument = (name: string): ChatError =>
  new ChatError('REQUEST_VARIABLE_MISSING', `Missing '${name}' argument`, { var_name: name });
