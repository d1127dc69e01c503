import type { ChatEvent, State as Snapshot } from '@natter/client';
import { directPlace, keyOf, type Message, type Place, placeOf, topicPlace } from './place.ts';

interface Person {
  id: number;
  name: string;
  isBot: boolean;
  isActive: boolean;
}

export interface Channel {
  id: number;
  name: string;
  color: string;
  isPrivate: boolean;
  isMuted: boolean;
  isPinned: boolean;
}

interface Unread {
  place: Place;
  ids: ReadonlySet<number>;
}

/** What is known of the organisation: a register's answer, updated by events. */
export interface Model {
  ownId: number;
  realmName: string;
  people: ReadonlyMap<number, Person>;
  /** The subscribed channels. */
  channels: ReadonlyMap<number, Channel>;
  /** Visibility policies of topics, by key of their place. */
  policies: ReadonlyMap<string, number>;
  /** Unread messages, by key of their place. */
  unread: ReadonlyMap<string, Unread>;
  /** The newest message of each direct conversation, by key. */
  direct: ReadonlyMap<string, { place: Place; newest: number }>;
}

/** Values of a topic's visibility policy. */
const muted = 1;
const unmuted = 2;

const fetchedTypes = [
  ...['realm', 'realm_user', 'subscription', 'stream', 'user_topic', 'message', 'update_message'],
  ...['update_message_flags', 'delete_message', 'recent_private_conversations'],
];
export const registerParams = {
  apply_markdown: true,
  client_gravatar: true,
  event_types: fetchedTypes.filter((type) => type !== 'recent_private_conversations'),
  fetch_event_types: fetchedTypes,
  client_capabilities: {
    notification_settings_null: true,
    bulk_message_deletion: true,
    user_avatar_url_field_optional: true,
    empty_topic_name: true,
  },
};

interface RawPerson {
  user_id: number;
  full_name: string;
  is_bot?: boolean;
  is_active?: boolean;
}
interface RawChannel {
  stream_id: number;
  name: string;
  color: string;
  invite_only: boolean;
  is_muted: boolean;
  pin_to_top: boolean;
}
interface RawSnapshot {
  user_id: number;
  realm_name: string;
  realm_users: RawPerson[];
  realm_non_active_users: RawPerson[];
  cross_realm_bots: RawPerson[];
  subscriptions: RawChannel[];
  user_topics: { stream_id: number; topic_name: string; visibility_policy: number }[];
  recent_private_conversations: { max_message_id: number; user_ids: number[] }[];
  unread_msgs: {
    pms: { other_user_id: number; unread_message_ids: number[] }[];
    huddles: { user_ids_string: string; unread_message_ids: number[] }[];
    streams: { stream_id: number; topic: string; unread_message_ids: number[] }[];
  };
}

const personOf = (raw: RawPerson, isActive = raw.is_active ?? true): Person => ({
  id: raw.user_id,
  name: raw.full_name,
  isBot: raw.is_bot ?? false,
  isActive,
});

const channelOf = (raw: RawChannel): Channel => ({
  id: raw.stream_id,
  name: raw.name,
  color: raw.color,
  isPrivate: raw.invite_only,
  isMuted: raw.is_muted,
  isPinned: raw.pin_to_top,
});

export function modelOf(answer: Snapshot): Model {
  const raw = answer as unknown as RawSnapshot;
  const ownId = raw.user_id;
  const unread = raw.unread_msgs;
  const unreads: Unread[] = [
    ...unread.pms.map((one) => unreadOf(directPlace([one.other_user_id], ownId), one)),
    ...unread.huddles.map((one) => unreadOf(directPlace(one.user_ids_string.split(',').map(Number), ownId), one)),
    ...unread.streams.map((one) => unreadOf(topicPlace(one.stream_id, one.topic), one)),
  ];
  return {
    ownId,
    realmName: raw.realm_name,
    people: new Map(
      [
        ...raw.realm_users.map((one) => personOf(one)),
        ...raw.realm_non_active_users.map((one) => personOf(one, false)),
        ...raw.cross_realm_bots.map((one) => personOf(one)),
      ].map((person) => [person.id, person]),
    ),
    channels: new Map(raw.subscriptions.map((one) => [one.stream_id, channelOf(one)])),
    policies: new Map(
      raw.user_topics.map((one) => [keyOf(topicPlace(one.stream_id, one.topic_name)), one.visibility_policy]),
    ),
    unread: new Map(unreads.map((one) => [keyOf(one.place), one])),
    direct: new Map(
      raw.recent_private_conversations.map(({ user_ids, max_message_id }) => {
        const place = directPlace(user_ids, ownId);
        return [keyOf(place), { place, newest: max_message_id }];
      }),
    ),
  };
}

const unreadOf = (place: Place, { unread_message_ids }: { unread_message_ids: number[] }): Unread => ({
  place,
  ids: new Set(unread_message_ids),
});

export function isMuted(model: Model, place: Place): boolean {
  if (place.kind !== 'topic') return false;
  const policy = model.policies.get(keyOf(place)) ?? 0;
  return policy === muted || ((model.channels.get(place.channelId)?.isMuted ?? false) && policy < unmuted);
}

function addUnread(model: Model, place: Place, ids: Iterable<number>): Model {
  const key = keyOf(place);
  const known = model.unread.get(key);
  const unread = new Map(model.unread).set(key, {
    place: known?.place ?? place,
    ids: new Set([...(known?.ids ?? []), ...ids]),
  });
  return { ...model, unread };
}

export function dropUnread(model: Model, ids: readonly number[]): Model {
  const gone = new Set(ids);
  let unread: Map<string, Unread> | undefined;
  for (const [key, one] of model.unread) {
    const left = new Set([...one.ids].filter((id) => !gone.has(id)));
    if (left.size === one.ids.size) continue;
    unread ??= new Map(model.unread);
    if (left.size > 0) unread.set(key, { ...one, ids: left });
    else unread.delete(key);
  }
  return unread ? { ...model, unread } : model;
}

/** What an event changes here. Events that it does not know leave the model as it is. */
export function applyToModel(model: Model, event: ChatEvent): Model {
  switch (event.type) {
    case 'message':
      return withMessage(model, { ...event.message, flags: event.flags } as Message);
    case 'update_message':
      return withMove(model, event);
    case 'delete_message':
      return dropUnread(model, 'message_ids' in event ? event.message_ids : [event.message_id]);
    case 'update_message_flags':
      return withFlags(model, event);
    case 'user_topic': {
      const key = keyOf(topicPlace(event.stream_id, event.topic_name));
      return { ...model, policies: new Map(model.policies).set(key, event.visibility_policy) };
    }
    case 'subscription':
    case 'stream':
      return withChannels(model, event);
    case 'realm_user':
      return withPeople(model, event);
    case 'realm':
      return event.op === 'update' && event.property === 'name' ? { ...model, realmName: String(event.value) } : model;
    default:
      return model;
  }
}

type EventOf<T extends ChatEvent['type']> = Extract<ChatEvent, { type: T }>;

function withMessage(model: Model, message: Message): Model {
  const place = placeOf(message, model.ownId);
  const direct =
    place.kind === 'direct' ? new Map(model.direct).set(keyOf(place), { place, newest: message.id }) : model.direct;
  const next = direct === model.direct ? model : { ...model, direct };
  return message.flags.includes('read') ? next : addUnread(next, place, [message.id]);
}

function withMove(model: Model, event: EventOf<'update_message'>): Model {
  if (event.stream_id === undefined || (event.subject === undefined && event.new_stream_id === undefined)) return model;
  const moved = new Set(event.message_ids);
  const unread = [...model.unread.values()].flatMap(({ ids }) => [...ids]).filter((id) => moved.has(id));
  if (unread.length === 0) return model;
  const from = [...model.unread.values()].find(({ ids }) => unread.some((id) => ids.has(id)))?.place;
  const topic = event.subject ?? event.orig_subject ?? (from?.kind === 'topic' ? from.topic : '');
  return addUnread(dropUnread(model, unread), topicPlace(event.new_stream_id ?? event.stream_id, topic), unread);
}

function withFlags(model: Model, event: EventOf<'update_message_flags'>): Model {
  if (event.flag !== 'read') return model;
  if (event.op === 'add') return dropUnread(model, event.messages);
  return Object.entries(event.message_details ?? {}).reduce(
    (next, [id, details]) =>
      addUnread(
        next,
        details.type === 'stream'
          ? topicPlace(details.stream_id, details.topic)
          : directPlace(details.user_ids, model.ownId),
        [Number(id)],
      ),
    model,
  );
}

function withChannels(model: Model, event: EventOf<'subscription'> | EventOf<'stream'>): Model {
  const channels = new Map(model.channels);
  let next = model;
  const leave = (id: number): void => {
    channels.delete(id);
    const left = [...next.unread].filter(([, { place }]) => place.kind !== 'topic' || place.channelId !== id);
    next = { ...next, unread: new Map(left) };
  };
  const change = (id: number, property: string, value: unknown): void => {
    const field = {
      name: 'name',
      color: 'color',
      invite_only: 'isPrivate',
      is_muted: 'isMuted',
      pin_to_top: 'isPinned',
    }[property];
    const channel = channels.get(id);
    if (field !== undefined && channel) channels.set(id, { ...channel, [field]: value });
  };
  if (event.type === 'stream') {
    if (event.op === 'delete') for (const id of event.stream_ids) leave(id);
    if (event.op === 'update') {
      change(event.stream_id, event.property, event.value);
      if (event.property === 'invite_only') change(event.stream_id, 'invite_only', event.value);
    }
  } else if (event.op === 'add') {
    for (const one of event.subscriptions) channels.set(one.stream_id, channelOf(one as unknown as RawChannel));
  } else if (event.op === 'remove') for (const one of event.subscriptions) leave(one.stream_id);
  else if (event.op === 'update') change(event.stream_id, event.property, event.value);
  return { ...next, channels };
}

function withPeople(model: Model, event: EventOf<'realm_user'>): Model {
  const people = new Map(model.people);
  if (event.op === 'add') people.set(event.person.user_id, personOf(event.person as unknown as RawPerson));
  else if (event.op === 'remove') {
    // Their messages stay, and name them.
    const person = people.get(event.person.user_id);
    if (person) people.set(person.id, { ...person, isActive: false });
  } else {
    const change = event.person as { user_id: number; full_name?: string; is_active?: boolean };
    const person = people.get(change.user_id);
    if (person)
      people.set(person.id, {
        ...person,
        name: change.full_name ?? person.name,
        isActive: change.is_active ?? person.isActive,
      });
  }
  return { ...model, people };
}
