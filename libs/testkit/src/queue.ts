import { problemOfEvent } from '@natter/contracts';
import type { Asks, Json } from './json.ts';

/**
 * An event queue, followed from its register. `state` is the answer of the register. Every event must match its
 * declaration.
 */
export class Queue {
  readonly client: Asks;
  readonly state: Json;
  readonly id: string;
  /** All events received so far, without heartbeats. */
  readonly seen: Json[] = [];
  private last: number;

  constructor(client: Asks, state: Json) {
    this.client = client;
    this.state = state;
    this.id = state.queue_id;
    this.last = state.last_event_id;
  }

  /** Polls once, blocking by default; returns the received events. */
  async poll(dontBlock = false): Promise<Json[]> {
    const { events } = await this.client.ok('GET', '/events', {
      queue_id: this.id,
      last_event_id: this.last,
      dont_block: dontBlock,
    });
    for (const event of events) {
      this.last = Math.max(this.last, event.id);
      const problem = problemOfEvent(event);
      if (problem) throw new Error(`The event differs from its declaration: ${problem}\n${JSON.stringify(event)}`);
    }
    const real = events.filter((event: Json) => event.type !== 'heartbeat');
    this.seen.push(...real);
    return real;
  }

  /** The next event that matches; earlier events are in `seen`. */
  async next(fits: (event: Json) => boolean, withinMs = 120_000): Promise<Json> {
    const end = Date.now() + withinMs;
    for (let from = this.seen.length; ; ) {
      const found = this.seen.slice(from).find(fits);
      if (found) return found;
      from = this.seen.length;
      if (Date.now() > end) throw new Error(`no such event among ${JSON.stringify(this.seen.slice(-20))}`);
      if ((await this.poll(true)).length === 0) await new Promise((resolve) => setTimeout(resolve, 25));
    }
  }

  /** Sends a message to this user and returns all events before it: earlier changes have then been delivered. */
  async settle(): Promise<Json[]> {
    const from = this.seen.length;
    const { id } = await this.client.ok('POST', '/messages', {
      type: 'direct',
      to: [this.client.user_id],
      content: `settle ${Math.random()}`,
    });
    await this.next((event) => event.type === 'message' && event.message.id === id);
    return this.seen.slice(from).filter((event) => !(event.type === 'message' && event.message.id === id));
  }
}
