import type { Appender } from './declare.ts';
import type { EventName } from './index.ts';

interface DurableConsumer {
  service: Appender;
  /** The position is stored under this name in the service's table `consumer`, so a renamed consumer starts again. */
  name: string;
  /** The events that it handles. A service can read only the event types of its consumers from the record. */
  events: readonly EventName[];
  /** Consumers of the same service whose projections it reads. It handles an event after they have handled theirs up to it. */
  after?: readonly string[];
  /** False if no request reads what it does: it only notifies clients. Then requests do not wait for it. */
  isAwaited?: false;
  keeps: string;
}

const groupEvents = [
  'user_group/add',
  'user_group/update',
  'user_group/remove',
  'user_group/add_members',
  'user_group/remove_members',
  'user_group/add_subgroups',
  'user_group/remove_subgroups',
] as const satisfies EventName[];
export const personEvents = ['realm_user/add', 'realm_user/update'] as const satisfies EventName[];
export const realmEvents = ['realm/update', 'realm/update_dict'] as const satisfies EventName[];

/**
 * Every durable consumer. A service refuses to start one that is not listed, and a test finds listed ones that no
 * service starts.
 */
export const durableConsumers: readonly DurableConsumer[] = [
  {
    service: 'users',
    name: 'bot-default-channels',
    events: ['stream/update'],
    keeps: 'names of channels that bots use by default',
  },
  {
    service: 'users',
    name: 'archived-channels',
    events: ['stream/update'],
    keeps: 'no archived channel in settings of the realm',
  },
  {
    service: 'users',
    name: 'acquaintance',
    events: ['subscription/add', 'subscription/remove', 'acquainted'],
    keeps: 'who shares a channel or a conversation, in realms that limit their guests',
  },
  {
    service: 'channels',
    name: 'people',
    events: [...personEvents, ...groupEvents, 'user_settings/update', 'realm_user_settings_defaults/update'],
    keeps: 'people and groups; announces which channels become visible or hidden',
  },
  {
    service: 'channels',
    name: 'messages',
    events: ['message', 'update_message', 'channel_begins'],
    keeps: 'first message, traffic and activity of channels',
  },
  { service: 'messaging', name: 'people', events: personEvents, keeps: 'names and addresses' },
  {
    service: 'messaging',
    name: 'periods',
    events: [
      'subscription/add',
      'subscription/remove',
      'subscription/update',
      'stream/create',
      'stream/update',
      'muted_users',
    ],
    keeps: 'channels, subscriptions and mutes by number of the log',
  },
  {
    service: 'messaging',
    name: 'sending-copies',
    events: [...groupEvents, 'alert_words', 'realm_linkifiers'],
    keeps: 'what rendering and mentions need',
  },
  {
    service: 'messaging',
    name: 'personal-settings',
    events: ['user_settings/update', 'realm_user/add'],
    keeps: 'personal settings; deletes drafts when synchronization is switched off',
  },
  { service: 'messaging', name: 'realm-emoji', events: ['realm_emoji/update'], keeps: 'custom emoji' },
  {
    service: 'messaging',
    name: 'attachment-references',
    events: ['attachments_referenced'],
    isAwaited: false,
    keeps: 'nothing; notifies owners of files of messages that refer to them',
  },
  {
    service: 'messaging',
    name: 'ended-mutes',
    events: ['mutes_ended'],
    isAwaited: false,
    keeps: 'nothing; sends older clients the list of muted topics',
  },
  {
    service: 'messaging',
    name: 'outgoing-webhooks',
    events: ['realm_user/add'],
    keeps: 'which bots are outgoing webhooks',
  },
  {
    service: 'messaging',
    name: 'notices',
    events: [
      'stream/create',
      'stream/update',
      'subscription/add',
      'user_group/add',
      'user_group/add_members',
      'user_group/remove_members',
      ...personEvents,
      ...realmEvents,
    ],
    after: ['people', 'periods', 'sending-copies'],
    keeps: 'roles, bot owners and realm settings; writes messages of the notification bot',
  },
  {
    service: 'presence',
    name: 'people',
    events: [...personEvents, 'user_settings/update', ...realmEvents],
    keeps: 'people, and who shares their presence',
  },
  {
    service: 'event-queue',
    name: 'queues-of-deactivated',
    events: ['realm_user/update'],
    keeps: 'nothing; ends queues',
  },
];

/** A consumer whose projections another one of the same service reads. */
export interface Predecessor {
  name: string;
  /** The types of the events that it handles. */
  types: readonly string[];
}

/**
 * The consumers that this one follows, from its declaration. Throws unless the consumer is declared with these events.
 */
export function declaredConsumer(
  service: Appender,
  name: string,
  events: readonly string[],
): { after: Predecessor[]; isAwaited: boolean } {
  const declared = find(service, name);
  if ([...declared.events].sort().join() !== [...events].sort().join())
    throw new Error(`The consumer ${name} of ${service} is declared to read ${declared.events.join(', ')}`);
  const after = (declared.after ?? []).map((predecessor) => ({
    name: predecessor,
    types: [...new Set(find(service, predecessor).events.map(typeOfName))],
  }));
  return { after, isAwaited: declared.isAwaited ?? true };
}

function find(service: Appender, name: string): DurableConsumer {
  const declared = durableConsumers.find((consumer) => consumer.service === service && consumer.name === name);
  if (!declared) throw new Error(`The contract lists no consumer ${name} of ${service}`);
  return declared;
}

const typeOfName = (name: EventName): string => name.replace(/\/.*/, '');
