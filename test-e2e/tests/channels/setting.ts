import { type Answer, type Client, type Json, openRealm, type Realm } from '@natter/testkit';

/** A realm without bot messages in new channels, so that tests see only their own changes. */
export async function openQuietRealm(): Promise<Realm> {
  const realm = await openRealm();
  await realm.owner.ok('PATCH', '/realm', { send_channel_events_messages: false });
  return realm;
}

let count = 0;
/** A name that no other channel has. */
export const freshName = (): string => `channel ${++count}`;

/** Creates a channel as `creator`, with the given subscribers; returns its id. */
export async function channel(creator: Client, subscribers: readonly Client[] = [], form: Json = {}): Promise<number> {
  const { id } = await creator.ok('POST', '/channels/create', {
    name: freshName(),
    subscribers: subscribers.map(({ user_id }) => user_id),
    ...form,
  });
  return id;
}

export const streamOf = async (who: Client, id: number): Promise<Json> =>
  (await who.ok('GET', `/streams/${id}`)).stream;

export const nameOf = async (who: Client, id: number): Promise<string> => (await streamOf(who, id)).name;

export const refused = ({ status, body }: Answer): [number, string] => [status, body.code];
export const badRequest = [400, 'BAD_REQUEST'];

/** Ids of the realm's system groups by name. */
export async function systemGroups(realm: Realm): Promise<Record<string, number>> {
  const { user_groups } = await realm.owner.ok('GET', '/user_groups');
  return Object.fromEntries(
    user_groups
      .filter((group: Json) => group.is_system_group)
      .map(({ name, id }: { name: string; id: number }) => [name, id]),
  );
}

/** A user group with these members. */
export async function group(realm: Realm, members: readonly Client[]): Promise<number> {
  const { group_id } = await realm.owner.ok('POST', '/user_groups/create', {
    name: `group of channels ${++count}`,
    description: '',
    members: members.map(({ user_id }) => user_id),
  });
  return group_id;
}

/** The list of a user's fresh register that contains the channel, if any. */
export async function standing(who: Client, id: number): Promise<string> {
  const state = await who.ok('POST', '/register', {
    fetch_event_types: ['subscription'],
    client_capabilities: { archived_channels: true, notification_settings_null: true },
  });
  for (const kind of ['subscriptions', 'unsubscribed', 'never_subscribed'])
    if (state[kind].some(({ stream_id }: Json) => stream_id === id)) return kind;
  return 'unknown';
}
