import type { Answer } from './api.ts';

/**
 * The client's state: the answer of a register, updated by events. Written from the event catalogue; imports nothing of
 * the product.
 */
export interface ClientState {
  users: Map<number, Answer>;
  streams: Map<number, Answer>;
  subscribed: Map<number, Answer>;
  others: Map<number, Answer>;
}

const byId = (list: Answer[], key: string): Map<number, Answer> =>
  new Map(list.map((item) => [item[key] as number, structuredClone(item)]));

export function stateOf(register: Answer): ClientState {
  return {
    users: byId([...register.realm_users, ...register.realm_non_active_users, ...register.cross_realm_bots], 'user_id'),
    streams: byId(register.streams, 'stream_id'),
    subscribed: byId(register.subscriptions, 'stream_id'),
    others: byId([...register.unsubscribed, ...register.never_subscribed], 'stream_id'),
  };
}

export function apply(state: ClientState, event: Answer): void {
  const kind = `${event.type}/${event.op ?? ''}`;
  if (kind === 'realm_user/add') state.users.set(event.person.user_id, event.person);
  if (kind === 'realm_user/update') {
    const { user_id, role, ...changes } = event.person;
    const user = state.users.get(user_id);
    if (user)
      Object.assign(
        user,
        changes,
        role === undefined ? {} : { role, is_owner: role === 100, is_admin: role <= 200, is_guest: role === 600 },
      );
  }
  if (kind === 'stream/create')
    for (const stream of event.streams) {
      state.streams.set(stream.stream_id, stream);
      if (!state.subscribed.has(stream.stream_id)) state.others.set(stream.stream_id, { ...stream, subscribers: [] });
    }
  if (kind === 'stream/delete')
    for (const id of event.stream_ids) {
      state.streams.delete(id);
      state.others.delete(id);
      state.subscribed.delete(id);
    }
  if (kind === 'stream/update') {
    const { type, op, id, stream_id, name, property, value, ...extra } = event;
    for (const map of [state.streams, state.subscribed, state.others]) {
      const known = map.get(stream_id);
      if (known) Object.assign(known, { [property]: value }, extra);
    }
  }
  if (kind === 'subscription/add')
    for (const subscription of event.subscriptions) {
      state.subscribed.set(subscription.stream_id, structuredClone(subscription));
      state.others.delete(subscription.stream_id);
    }
  if (kind === 'subscription/remove')
    for (const { stream_id } of event.subscriptions) {
      const was = state.subscribed.get(stream_id);
      state.subscribed.delete(stream_id);
      if (was) state.others.set(stream_id, was);
    }
  if (kind === 'subscription/peer_add' || kind === 'subscription/peer_remove')
    for (const id of event.stream_ids) {
      const subscription = state.subscribed.get(id);
      if (!subscription) continue;
      const ids = new Set<number>(subscription.subscribers);
      for (const user of event.user_ids) kind.endsWith('add') ? ids.add(user) : ids.delete(user);
      subscription.subscribers = [...ids].sort((a, b) => a - b);
    }
}

/** Comparable form; subscribers of channels that the user is not subscribed to are not tracked. */
export function comparable(state: ClientState): unknown {
  const sorted = (map: Map<number, Answer>): [number, Answer][] => [...map].sort(([a], [b]) => a - b);
  const withoutPictures = ([id, { avatar_url, profile_data, ...user }]: [number, Answer]) => [id, user];
  return {
    users: sorted(state.users).map(withoutPictures),
    streams: sorted(state.streams),
    subscribed: sorted(state.subscribed),
    others: sorted(state.others).map(([id]) => id),
  };
}
