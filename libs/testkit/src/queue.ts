import { problemOfEvent } from '@natter/contracts';
import type { Client, Json } from './client.ts';

/** An event queue, followed from its register. `state` is the register's answer. Every event must be as the catalogue has it. */
export class Queue {
  readonly client: Client;
  readonly state: Json;
  readonly id: string;
  /** All events seen so far, heartbeats left out. */
  readonly seen: Json[] = [];
  private last: number;

  constructor(client: Client, state: Json) {
    this.client = client;
    this.state = state;
    this.id = state.queue_id;
    this.last = state.last_event_id;
  }

  /** Polls once, blocking unless told otherwise; gives what came. */
  async poll(dontBlock = false): Promise<Json[]> {
    const { events } = await this.client.ok('GET', '/events', {
      queue_id: this.id,
      last_event_id: this.last,
      dont_block: dontBlock,
    });
    for (const event of events) {
      this.last = Math.max(this.last, event.id);
      const problem = problemOfEvent(event);
      if (problem) throw new Error(`Not as the catalogue has it: ${problem}\n${JSON.stringify(event)}`);
    }
    const real = events.filter((event: Json) => event.type !== 'heartbeat');
    this.seen.push(...real);
    return real;
  }

  /** The next event that fits; those before it are in `seen`. */
  async next(fits: (event: Json) => boolean, withinMs = 10_000): Promise<Json> {
    const end = Date.now() + withinMs;
    for (let from = this.seen.length; ; ) {
      const found = this.seen.slice(from).find(fits);
      if (found) return found;
      from = this.seen.length;
      if (Date.now() > end) throw new Error(`no such event among ${JSON.stringify(this.seen.slice(-20))}`);
      if ((await this.poll(true)).length === 0) await new Promise((resolve) => setTimeout(resolve, 25));
    }
  }

  /** Everything up to a marker that is sent now by `marker` through a change this user sees: what had to come has come. */
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
