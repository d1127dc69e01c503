import type { ChatEvent, State } from '@natter/client';
import { applyToBots, type Bots, botsOf } from './bots.ts';
import { applyToFolders, type Folders, foldersOf } from './folders.ts';
import { applyToListed, type Listed } from './listed.ts';
import { applyToMarks, type Marks, marksOf, minus } from './marks.ts';
import { channelOf, channelsAfter, type Person, peopleAfter, personOf } from './members.ts';
import { directPlace, keyOf, type Message, type Place, placeOf, topicPlace } from './place.ts';
import { applyToRealm, type Realm, realmOf } from './realm.ts';
import { applyToCollections, type Collections, collectionsOf, collectionTypes } from './realm-collections.ts';
import { applyToRules, type Rules, rulesOf } from './rules.ts';
import type { Snapshot } from './snapshot.ts';
import { applyToSocial, type Social, socialOf, socialTypes } from './social.ts';
import { addUnread, channelParts, dropUnread, everyUnread, type Unread, type Unreads, unreadParts } from './unread.ts';
import { applyToWriting } from './writing.ts';
import { type Writing, writingOf, writingTypes } from './writing-snapshot.ts';

/** The known state of the organisation: a register's answer, updated by events. */
export interface Model extends Social, Unreads {
  ownId: number;
  realmName: string;
  people: ReadonlyMap<number, Person>;
  folders: Folders;
  listed: Listed;
  /** Visibility policies of topics, by key of their place. */
  policies: ReadonlyMap<string, number>;
  /** The followed topics, by key of their place. */
  followed: ReadonlyMap<string, Place>;
  /** The newest message of each direct conversation, by key. */
  direct: ReadonlyMap<string, { place: Place; newest: number }>;
  rules: Rules;
  realm: Realm;
  bots: Bots;
  realmCollections: Collections;
  marks: Marks;
  writing: Writing;
}

/** Values of a topic's visibility policy. */
export const topicPolicies = { inherited: 0, muted: 1, unmuted: 2, followed: 3 } as const;
export type TopicPolicy = (typeof topicPolicies)[keyof typeof topicPolicies];

const commonTypes = [
  ...['realm', 'realm_user', 'realm_emoji', 'subscription', 'user_topic', 'message', 'update_message'],
  ...['update_message_flags', 'delete_message', 'realm_bot'],
  ...writingTypes,
  ...socialTypes,
  ...collectionTypes,
];
export const registerParams = {
  apply_markdown: true,
  client_gravatar: true,
  slim_presence: true,
  event_types: [...commonTypes, 'stream', 'channel_folder', 'reaction', 'submessage'],
  fetch_event_types: [...commonTypes, 'channel_folders', 'recent_private_conversations', 'starred_messages'],
  client_capabilities: {
    notification_settings_null: true,
    bulk_message_deletion: true,
    user_avatar_url_field_optional: true,
    empty_topic_name: true,
    user_settings_object: true,
    stream_typing_notifications: true,
    archived_channels: true,
    simplified_presence_events: true,
  },
};

/** `answer`: to a register with `registerParams`. */
export function modelOf(answer: State): Model {
  const raw = answer as Snapshot;
  const ownId = raw.user_id;
  const channels = channelParts(raw.subscriptions.map(channelOf));
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
    folders: foldersOf(raw.channel_folders),
    listed: undefined,
    ...topicsOf(raw.user_topics.map((one) => [topicPlace(one.stream_id, one.topic_name), one.visibility_policy])),
    ...channels,
    ...unreadParts(unreads, channels),
    direct: new Map(
      raw.recent_private_conversations.map(({ user_ids, max_message_id }) => {
        const place = directPlace(user_ids, ownId);
        return [keyOf(place), { place, newest: max_message_id }];
      }),
    ),
    rules: rulesOf(raw),
    realm: realmOf(raw),
    bots: botsOf(raw.realm_bots),
    realmCollections: collectionsOf(raw),
    marks: marksOf(raw),
    writing: writingOf(raw),
    ...socialOf(raw),
  };
}

const unreadOf = (place: Place, { unread_message_ids }: { unread_message_ids: number[] }): Unread => ({
  place,
  ids: new Set(unread_message_ids),
});

function topicsOf(chosen: readonly [Place, number][]): Pick<Model, 'policies' | 'followed'> {
  const followed = chosen.filter(([, policy]) => policy === topicPolicies.followed);
  return {
    policies: new Map(chosen.map(([place, policy]) => [keyOf(place), policy])),
    followed: new Map(followed.map(([place]) => [keyOf(place), place])),
  };
}

export const policyOf = (model: Pick<Model, 'policies'>, place: Place, key = keyOf(place)): number =>
  model.policies.get(key) ?? topicPolicies.inherited;

function withPolicy(model: Model, place: Place, policy: number): Model {
  const key = keyOf(place);
  const followed = new Map(model.followed);
  if (policy === topicPolicies.followed) followed.set(key, place);
  else followed.delete(key);
  return { ...model, policies: new Map(model.policies).set(key, policy), followed };
}

/** The parts of the model that decide whether a conversation is muted. */
export type Muting = Pick<Model, 'channels' | 'policies' | 'muted'>;

/** Whether a conversation is muted. Direct messages are muted if the only other person is. `key`: that of the place. */
export const isMuted = (model: Muting, place: Place, key?: string): boolean =>
  place.kind === 'topic'
    ? isMutedTopic(model, place, key)
    : place.userIds.length === 1 && model.muted.has(place.userIds[0] ?? 0);

/** Whether the server leaves a conversation out of the combined feed. */
export function isMutedTopic(model: Pick<Model, 'channels' | 'policies'>, place: Place, key?: string): boolean {
  if (place.kind !== 'topic') return false;
  const policy = policyOf(model, place, key);
  if (policy === topicPolicies.inherited) return model.channels.get(place.channelId)?.isMuted ?? false;
  return policy === topicPolicies.muted;
}

/** Applies an event to the model. Unknown events change nothing. */
export function applyToModel(model: Model, event: ChatEvent): Model {
  const next = applyToSocial(applyToPlaces(model, event), event);
  const rules = applyToRules(model.rules, event, model.ownId);
  const marks = applyToMarks(model.marks, event, (id) => everyUnread(model).some(({ ids }) => ids.has(id)));
  const writing = applyToWriting(model.writing, event);
  const realm = applyToRealm(model.realm, event);
  const folders = applyToFolders(model.folders, event);
  const bots = applyToBots(model.bots, event);
  const realmCollections = applyToCollections(model.realmCollections, event);
  const listed = applyToListed(model.listed, event);
  const parts = { realm, rules, writing, folders, bots, realmCollections, listed };
  const isSame = Object.entries(parts).every(([name, part]) => part === model[name as keyof typeof parts]);
  if (next === model && isSame && marks === model.marks) return model;
  return {
    ...next,
    ...parts,
    marks: countOf(next) < countOf(model) ? withoutLeft(marks, next) : marks,
  };
}

const countOf = ({ channels, archived }: Unreads): number => channels.size + archived.size;

/** Messages of a channel that the reader left do not count as unread, so their mentions do not either. */
function withoutLeft(marks: Marks, model: Model): Marks {
  const known = new Set(everyUnread(model).flatMap(({ ids }) => [...ids]));
  return { ...marks, mentions: new Set([...marks.mentions].filter((id) => known.has(id))) };
}

/** The reader has read messages. */
export const withRead = (model: Model, ids: readonly number[]): Model => ({
  ...dropUnread(model, ids),
  marks: { ...model.marks, mentions: minus(model.marks.mentions, ids) },
});

function applyToPlaces(model: Model, event: ChatEvent): Model {
  switch (event.type) {
    case 'message':
      return withMessage(model, { ...event.message, flags: event.flags });
    case 'update_message':
      return withMove(model, event);
    case 'delete_message':
      return dropUnread(model, 'message_ids' in event ? event.message_ids : [event.message_id]);
    case 'update_message_flags':
      return withFlags(model, event);
    case 'user_topic':
      return withPolicy(model, topicPlace(event.stream_id, event.topic_name), event.visibility_policy);
    case 'subscription':
    case 'stream':
      return withChannels(model, event);
    case 'realm_user':
      return { ...model, people: peopleAfter(model.people, event) };
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
  const every = everyUnread(model);
  const unread = every.flatMap(({ ids }) => [...ids]).filter((id) => moved.has(id));
  if (unread.length === 0) return model;
  const from = every.find(({ ids }) => unread.some((id) => ids.has(id)))?.place;
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
  const { channels, left } = channelsAfter(new Map([...model.channels, ...model.archived]), event);
  const next = { ...model, ...channelParts([...channels.values()]) };
  if (left.length === 0 && next.archived.size === model.archived.size) return next;
  const kept = everyUnread(model).filter(({ place }) => place.kind !== 'topic' || !left.includes(place.channelId));
  return { ...next, ...unreadParts(kept, next) };
}
