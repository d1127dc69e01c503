import type { Json } from '@natter/testkit';

/** A client's state of channels: the answer of a register, updated by events according to the event catalogue. */
export interface Kept {
  userId: number;
  streams: Map<number, Json>;
  subscribed: Map<number, Json>;
  others: Map<number, Json>;
  defaults: number[];
  folders: Json[];
}

const byId = (list: Json[]): Map<number, Json> => new Map(list.map((one) => [one.stream_id, structuredClone(one)]));

export const fetchTypes = ['subscription', 'stream', 'default_streams', 'channel_folders'];
export const eventTypes = ['subscription', 'stream', 'default_streams', 'channel_folder'];

export const keptOf = (userId: number, register: Json): Kept => ({
  userId,
  streams: byId(register.streams),
  subscribed: byId(register.subscriptions),
  others: byId([...register.unsubscribed, ...register.never_subscribed]),
  defaults: register.realm_default_streams,
  folders: structuredClone(register.channel_folders),
});

export function apply(kept: Kept, event: Json): void {
  const { streams, subscribed, others } = kept;
  switch (`${event.type}/${event.op ?? ''}`) {
    case 'stream/create':
      for (const stream of event.streams) {
        streams.set(stream.stream_id, structuredClone(stream));
        if (!subscribed.has(stream.stream_id))
          others.set(stream.stream_id, { ...structuredClone(stream), subscribers: [] });
      }
      return;
    case 'stream/delete':
      for (const id of event.stream_ids) for (const map of [streams, subscribed, others]) map.delete(id);
      return;
    case 'stream/update': {
      const { type, op, id, stream_id, name, property, value, ...more } = event;
      for (const map of [streams, subscribed, others])
        if (map.has(stream_id)) Object.assign(map.get(stream_id), { [property]: value }, more);
      return;
    }
    case 'subscription/add':
      for (const subscription of event.subscriptions) {
        subscribed.set(subscription.stream_id, structuredClone(subscription));
        others.delete(subscription.stream_id);
      }
      return;
    case 'subscription/remove':
      for (const { stream_id } of event.subscriptions) {
        const was = subscribed.get(stream_id);
        subscribed.delete(stream_id);
        if (was)
          others.set(stream_id, { ...was, subscribers: was.subscribers.filter((id: number) => id !== kept.userId) });
      }
      return;
    case 'subscription/update':
      if (subscribed.has(event.stream_id))
        Object.assign(subscribed.get(event.stream_id), { [event.property]: event.value });
      return;
    case 'subscription/peer_add':
    case 'subscription/peer_remove':
      for (const id of event.stream_ids)
        for (const map of [subscribed, others]) {
          const one = map.get(id);
          if (!one) continue;
          const users = new Set<number>(one.subscribers);
          for (const user of event.user_ids) event.op === 'peer_add' ? users.add(user) : users.delete(user);
          one.subscribers = [...users].sort((a, b) => a - b);
        }
      return;
    case 'default_streams/':
      kept.defaults = event.default_streams;
      return;
    case 'channel_folder/add':
      kept.folders.push(event.channel_folder);
      return;
    case 'channel_folder/update':
      Object.assign(
        kept.folders.find(({ id }) => id === event.channel_folder_id),
        event.data,
      );
      return;
    case 'channel_folder/reorder':
      for (const folder of kept.folders) folder.order = event.order.indexOf(folder.id);
      kept.folders.sort((a, b) => a.order - b.order);
      return;
    default:
      throw new Error(`an event that the catalogue does not know: ${JSON.stringify(event)}`);
  }
}

const personal = new Set([
  'color',
  'is_muted',
  'in_home_view',
  'pin_to_top',
  'desktop_notifications',
  'email_notifications',
  'push_notifications',
  'audible_notifications',
  'wildcard_mentions_notify',
]);

/** Comparable form. Personal settings of channels that the user is not subscribed to are not tracked. */
export function comparable({ streams, subscribed, others, defaults, folders }: Kept): Json {
  const sorted = (map: Map<number, Json>) => [...map].sort(([a], [b]) => a - b);
  const impersonal = ([id, one]: [number, Json]) => [
    id,
    Object.fromEntries(Object.entries(one).filter(([name]) => !personal.has(name))),
  ];
  return {
    streams: sorted(streams),
    subscribed: sorted(subscribed),
    others: sorted(others).map(impersonal),
    defaults,
    folders,
  };
}

/** Every channel that an event mentions. */
export function channelsIn(event: Json): number[] {
  const listed = [...(event.streams ?? []), ...(event.subscriptions ?? [])].map(({ stream_id }) => stream_id);
  return [
    ...listed,
    ...(event.stream_ids ?? []),
    ...(event.stream_id === undefined ? [] : [event.stream_id]),
    ...(event.default_streams ?? []),
  ];
}

/** Reproducible randomness (mulberry32). */
export function randomOf(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}
