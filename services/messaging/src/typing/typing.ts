import {
  type Actor,
  badRequest,
  emptyTopicDisplayName,
  type Form,
  type IdSet,
  idSet,
  idsOf,
  type LogEvent,
  messageChangeOperations,
  missingArgument,
  type ParamsOf,
  type PostingRules,
  topicOfName,
} from '@natter/contracts';
import { type Database, VersionsChanged } from '@natter/database';
import type { RealmPolicies, UserVisibility } from '@natter/realm-policy';
import { type Handlers, handleWrite, type Logger, type Owner } from '@natter/service-kit';
import { type ChannelAccess, invalidChannelId } from '../model/channel-access.ts';
import { type MessageAccess, requireChangeable } from '../model/message-access.ts';
import { namedPeople } from '../model/named-people.ts';
import { requireFewRecipients } from '../model/people.ts';
import { isOn, whoTurnedOff } from '../model/personal-settings.ts';
import { hasProtectedHistory, whoSees } from '../model/subscription-periods.ts';
import { unknownActor } from '../model/unknown-actor.ts';
import { unknownParticipants } from './unknown-participants.ts';

type To = ParamsOf<typeof messageChangeOperations.setTyping>['to'];

/** Typing events are not sent in larger channels. */
const maxSubscribers = 100;

/** Typing notifications: sent at once to interested receivers, never stored. */
export function typingHandlers(
  { database, appender }: Owner,
  channels: ChannelAccess,
  messages: MessageAccess,
  { policies, userVisibility, log }: { policies: RealmPolicies; userVisibility: UserVisibility; log: Logger },
): Handlers {
  return [
    handleWrite(messageChangeOperations.setTyping, async ({ actor, meta }, params) => {
      if (params.type === 'channel' || params.type === 'stream') {
        if (params.stream_id === undefined) throw missingArgument('stream_id');
        if (params.topic === undefined) throw missingArgument('topic');
        await requireOn(actor, 'send_stream_typing_notifications', 'channel');
        const channel = await channels.readable(actor, meta, params.stream_id);
        if (channel.is_archived) throw invalidChannelId();
        const topic = topicOfName(params.topic.trim());
        const sender = { user_id: actor.userId, email: actor.email };
        const body = { message_type: 'stream', sender, stream_id: channel.channel_id, topic } as const;
        const unknown = await unknownActor({ policies, userVisibility }, actor, meta, {
          audience: channel.subscribers,
          called: [],
        });
        const variants = unknown
          ? [
              {
                audience: { users: unknown.to },
                patch: { sender: { user_id: actor.userId, email: unknown.shown.email } },
              },
            ]
          : [];
        // Clients without support for typing in channels would treat an event without recipients as a direct message.
        const forms: Form[] = [{ capability: 'stream_typing_notifications', is: false, patch: null }];
        if (topic === '') forms.push(named({ topic: emptyTopicDisplayName }));
        await notify(actor, idsOf(channel.subscribers), true, (audience) => ({
          type: 'typing',
          op: params.op,
          body,
          audience,
          variants,
          forms,
        }));
        return {};
      }
      const to = namedIn(params.to);
      const policy = await policies.get(meta, false);
      const { realmId, userId } = actor;
      const people = await userVisibility.decideFor(actor, meta, policy, (hidden) =>
        namedPeople(database, { realmId, userId, hidden }, to),
      );
      await requireOn(actor, 'send_private_typing_notifications', 'direct');
      const shown = people.map(({ user_id, email }) => ({ user_id, email }));
      const sender = shown.find(({ user_id }) => user_id === actor.userId);
      if (!sender) throw new VersionsChanged(`user ${actor.userId} in the copy of people`, 'row');
      const forGuests = await unknownParticipants({ database, userVisibility }, { actor, meta, policy }, people);
      const active = people.filter((person) => person.is_active).map((person) => person.user_id);
      const receivers = active.filter((id) => !forGuests.skipped.has(id));
      const body = { message_type: 'direct', sender, recipients: shown } as const;
      const { variants } = forGuests;
      await notify(actor, receivers, false, (audience) => ({
        type: 'typing',
        op: params.op,
        body,
        audience,
        variants,
      }));
      return {};
    }),

    handleWrite(messageChangeOperations.setMessageTyping, async ({ actor, meta }, { message_id, op }) => {
      const message = await messages.readable(database, actor, meta, message_id);
      requireChangeable(message.channel);
      if (message.sender_id !== actor.userId) throw badRequest("You don't have permission to edit this message");
      const { channel, topic } = message;
      if (channel) {
        await requireOn(actor, 'send_stream_typing_notifications', 'channel');
        const recipient = { type: 'channel', channel_id: channel.channel_id, topic } as const;
        const body = { sender_id: actor.userId, message_id, recipient };
        const forms = topic === '' ? [named({ recipient: { ...recipient, topic: emptyTopicDisplayName } })] : [];
        const subscribers = await subscribersWhoSee(database, channel, message_id, actor.realmId);
        await notify(actor, subscribers, true, (audience) => ({
          type: 'typing_edit_message',
          op,
          body,
          audience,
          forms,
        }));
        return {};
      }
      await requireOn(actor, 'send_private_typing_notifications', 'direct');
      const userIds = message.recipient_ids ?? [];
      const recipient = { type: 'direct', user_ids: userIds } as const;
      const body = { sender_id: actor.userId, message_id, recipient };
      await notify(actor, userIds, false, (audience) => ({ type: 'typing_edit_message', op, body, audience }));
      return {};
    }),
  ];

  /** Notifies the receivers who enabled typing notifications. */
  async function notify(
    actor: Actor,
    receivers: readonly number[],
    isChannel: boolean,
    eventFor: (audience: { users: IdSet }) => LogEvent,
  ): Promise<void> {
    if (isChannel && receivers.length > maxSubscribers) return;
    const unwilling = await whoTurnedOff(database, actor.realmId, 'receives_typing_notifications', receivers);
    const willing = receivers.filter((id) => !unwilling.has(id));
    if (willing.length === 0) return;
    // A lost event does not fail the request: clients repeat their notification.
    await appender
      .appendEphemeral(actor.realmId, eventFor({ users: idSet(willing) }))
      .catch((error: unknown) => log.debug({ err: error }, 'typing event dropped'));
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

function namedIn(to: To): (string | number)[] {
  if (to === undefined) throw missingArgument('to');
  const list = typeof to === 'string' ? to.split(',').map((email) => email.trim()) : Array.isArray(to) ? to : [to];
  if (list.length === 0) throw badRequest("Empty 'to' list");
  requireFewRecipients(list);
  return list;
}

async function subscribersWhoSee(
  database: Database,
  channel: PostingRules,
  messageId: number,
  realmId: number,
): Promise<number[]> {
  if (!hasProtectedHistory(channel)) return idsOf(channel.subscribers);
  return whoSees(database, realmId, [messageId], idsOf(channel.subscribers));
}

/** A form of the event for clients that do not support the empty topic. */
const named = (patch: Record<string, unknown>): Form => ({ capability: 'empty_topic_name', is: false, patch });
