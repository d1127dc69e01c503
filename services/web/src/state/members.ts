import type { ChatEvent } from '@natter/client';
import type { GroupSetting } from './writing-snapshot.ts';

type EventOf<T extends ChatEvent['type']> = Extract<ChatEvent, { type: T }>;

export interface Person {
  id: number;
  name: string;
  isBot: boolean;
  /** A bot of the server, which belongs to no channel or group. */
  isSystemBot: boolean;
  isActive: boolean;
  role: number;
  /** The address of the uploaded picture, on this server. */
  picture?: string | undefined;
}

const channelPermissions = [
  ...(['can_delete_any_message_group', 'can_delete_own_message_group', 'can_resolve_topics_group'] as const),
  ...(['can_move_messages_within_channel_group', 'can_move_messages_out_of_channel_group'] as const),
  ...(['can_administer_channel_group', 'can_send_message_group'] as const),
] as const;
export type ChannelPermission = (typeof channelPermissions)[number];

export interface Channel {
  id: number;
  name: string;
  color: string;
  isPrivate: boolean;
  isMuted: boolean;
  isPinned: boolean;
  isArchived: boolean;
  folderId: number | null;
  /** The users who may change messages here, besides those with the organization's permission. */
  permissions: Readonly<Record<ChannelPermission, GroupSetting>>;
  /** Whether each message notifies the reader; null if the reader's settings decide. */
  notifies: boolean | null;
  /** Whether wildcard mentions count as mentions of the reader; null if the reader's settings decide. */
  wildcardsNotify: boolean | null;
}

type RawPerson = Pick<
  Extract<EventOf<'realm_user'>, { op: 'add' }>['person'],
  'user_id' | 'full_name' | 'is_bot' | 'is_system_bot' | 'is_active' | 'role' | 'avatar_url'
>;
type RawChannel = Pick<
  Extract<EventOf<'subscription'>, { op: 'add' }>['subscriptions'][number],
  | ChannelPermission
  | ('stream_id' | 'name' | 'color' | 'invite_only' | 'is_muted' | 'pin_to_top' | 'is_archived' | 'folder_id')
  | ('desktop_notifications' | 'wildcard_mentions_notify')
>;
export const personOf = (raw: RawPerson, isActive = raw.is_active): Person => ({
  id: raw.user_id,
  name: raw.full_name,
  isBot: raw.is_bot,
  isSystemBot: raw.is_system_bot ?? false,
  isActive,
  role: raw.role,
  picture: pictureOf(raw.avatar_url),
});

/**
 * An uploaded picture. Pictures that the server draws look alike, and those of other sites would reveal the reader to them.
 */
const pictureOf = (url: string | null | undefined): string | undefined =>
  url?.startsWith('/user_avatars/') ? url : undefined;

export const channelOf = (raw: RawChannel): Channel => ({
  id: raw.stream_id,
  name: raw.name,
  color: raw.color,
  isPrivate: raw.invite_only,
  isMuted: raw.is_muted,
  isPinned: raw.pin_to_top,
  isArchived: raw.is_archived,
  folderId: raw.folder_id,
  permissions: Object.fromEntries(channelPermissions.map((name) => [name, raw[name]])) as Channel['permissions'],
  notifies: raw.desktop_notifications,
  wildcardsNotify: raw.wildcard_mentions_notify,
});

/** Properties of a channel in events, and here. */
const fields: Record<string, keyof Channel> = {
  name: 'name',
  color: 'color',
  invite_only: 'isPrivate',
  is_muted: 'isMuted',
  pin_to_top: 'isPinned',
  is_archived: 'isArchived',
  folder_id: 'folderId',
  desktop_notifications: 'notifies',
  wildcard_mentions_notify: 'wildcardsNotify',
};

/** The channels after an event, and those that the reader left with it. */
export function channelsAfter(
  before: ReadonlyMap<number, Channel>,
  event: EventOf<'subscription'> | EventOf<'stream'>,
): { channels: ReadonlyMap<number, Channel>; left: readonly number[] } {
  const channels = new Map(before);
  const left: number[] = [];
  const change = (id: number, property: string, value: unknown): void => {
    const [field, channel] = [fields[property], channels.get(id)];
    if (field !== undefined && channel) channels.set(id, { ...channel, [field]: value });
    else if (channel && Object.hasOwn(channel.permissions, property))
      channels.set(id, { ...channel, permissions: { ...channel.permissions, [property]: value } });
  };
  if (event.type === 'stream') {
    if (event.op === 'delete') left.push(...event.stream_ids);
    if (event.op === 'update') change(event.stream_id, event.property, event.value);
  } else if (event.op === 'add') {
    for (const one of event.subscriptions) channels.set(one.stream_id, channelOf(one));
  } else if (event.op === 'remove') left.push(...event.subscriptions.map(({ stream_id }) => stream_id));
  else if (event.op === 'update') change(event.stream_id, event.property, event.value);
  for (const id of left) channels.delete(id);
  return { channels, left };
}

export function peopleAfter(
  before: ReadonlyMap<number, Person>,
  event: EventOf<'realm_user'>,
): ReadonlyMap<number, Person> {
  const people = new Map(before);
  if (event.op === 'add') people.set(event.person.user_id, personOf(event.person));
  else if (event.op === 'remove') {
    // The person is kept, because their messages remain and show their name.
    const person = people.get(event.person.user_id);
    if (person) people.set(person.id, { ...person, isActive: false });
  } else {
    const { person: change } = event;
    const person = people.get(change.user_id);
    if (person)
      people.set(person.id, {
        ...person,
        name: change.full_name ?? person.name,
        isActive: change.is_active ?? person.isActive,
        role: change.role ?? person.role,
        picture: change.avatar_url === undefined ? person.picture : pictureOf(change.avatar_url),
      });
  }
  return people;
}
