import { isDeepStrictEqual } from 'node:util';
import type { Client, Json, Queue } from '@natter/testkit';
import { expect } from 'vitest';

/** A client's state from a register and events; uses nothing of Natter's code. */
export interface Keeping<S> {
  stateOf(snapshot: Json): S;
  apply(state: S, event: Json): void;
  /** Equal for states that are the same to a client. */
  comparable(state: S): unknown;
}

export interface Follower<S> {
  client: Client;
  form: Json;
  queue: Queue;
  state: S;
}

export async function follower<S>(client: Client, form: Json, keeping: Keeping<S>): Promise<Follower<S>> {
  const queue = await client.queue(form);
  return { client, form, queue, state: keeping.stateOf(queue.state) };
}

/**
 * Checks that each client's state after all events equals a fresh register; returns the number of events of each kind.
 */
export async function expectFreshStates<S>(
  followers: readonly Follower<S>[],
  { stateOf, apply, comparable }: Keeping<S>,
): Promise<Record<string, number>> {
  const counts: Record<string, number> = {};
  for (const { client, form, queue, state } of followers) {
    // Consequences of an event in another service arrive shortly after it.
    const deadline = Date.now() + 120_000;
    for (;;) {
      const register = await client.ok('POST', '/register', form);
      // A user may have a limited number of queues.
      await client.ok('DELETE', '/events', { queue_id: register.queue_id });
      const fresh = comparable(stateOf(register));
      for (let events = await queue.poll(true); events.length > 0; events = await queue.poll(true))
        for (const event of events) {
          apply(state, event);
          const kind = `${event.type}/${event.op ?? ''}`;
          counts[kind] = (counts[kind] ?? 0) + 1;
        }
      if (isDeepStrictEqual(comparable(state), fresh)) break;
      if (Date.now() > deadline) expect(comparable(state)).toEqual(fresh);
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
  }
  return counts;
}
