import { webcrypto } from 'node:crypto';
import { ApiError, type ChatEvent, type Client, type FeedOptions, follow } from '@natter/client';
import fc from 'fast-check';
import { afterEach, expect, test, vi } from 'vitest';
import { type Model, modelOf } from '../state/model.ts';
import { randomId } from './random-id.ts';
import { SharedFeed } from './shared-feed.ts';

/**
 * A server with one log. Event `n` makes `n` the name of the organization, so the name in a model is the number of its last
 * event.
 */
class Server {
  #events: ChatEvent[] = [];
  /** The first number of the log when a queue was registered. */
  readonly #starts = new Map<string, number>();
  readonly #held = new Set<() => void>();
  polls = 0;

  happen(): void {
    this.#events.push(eventOf(this.#events.length + 1));
    this.#release();
  }

  expire(): void {
    this.#starts.clear();
    this.#release();
  }

  get last(): number {
    return this.#events.length;
  }

  #release(): void {
    for (const release of this.#held) release();
    this.#held.clear();
  }

  readonly #client = {
    register: async () => {
      const queue_id = randomId();
      this.#starts.set(queue_id, this.last);
      await turn();
      return this.snapshot(queue_id);
    },
    getEvents: async (at: { queue_id: string; last_event_id: number }, { signal }: { signal: AbortSignal }) => {
      for (;;) {
        signal.throwIfAborted();
        if (!this.#starts.has(at.queue_id))
          throw new ApiError(400, { msg: 'Bad event queue ID', code: 'BAD_EVENT_QUEUE_ID' });
        const events = this.#events.filter(({ id }) => id > at.last_event_id);
        if (events.length > 0) return { events: events.slice(0, 3) };
        this.polls++;
        await new Promise<void>((resolve) => {
          this.#held.add(resolve);
          signal.addEventListener('abort', () => resolve());
        });
        this.polls--;
      }
    },
  } as unknown as Client;

  open = (options: FeedOptions) => follow(this.#client, {}, options);

  snapshot = (queue_id: string) =>
    ({
      queue_id,
      last_event_id: this.#starts.get(queue_id) ?? this.last,
      user_id: 7,
      realm_name: String(this.#starts.get(queue_id) ?? this.last),
      ...{ realm_users: [], realm_non_active_users: [], cross_realm_bots: [], subscriptions: [], user_topics: [] },
      ...{ recent_private_conversations: [], starred_messages: [], realm_emoji: {}, channel_folders: [] },
      unread_msgs: { pms: [], huddles: [], streams: [], mentions: [] },
      ...{ drafts: [], scheduled_messages: [], reminders: [], realm_user_groups: [], user_settings: {} },
      ...{ user_status: {}, muted_users: [], alert_words: [], presences: {}, realm_bots: [] },
      ...{ realm_domains: [], realm_playgrounds: [], realm_default_streams: [] },
    }) as never;
}

const eventOf = (n: number): ChatEvent =>
  ({ type: 'realm', op: 'update', property: 'name', value: String(n), id: n }) as ChatEvent;

const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

/** A page: it reads all events, and complains of one that is lost or doubled. */
class Tab {
  readonly faults: string[] = [];
  isVisible: boolean;
  last = -1;
  feed: SharedFeed | undefined;
  isGone = false;

  constructor(isVisible: boolean) {
    this.isVisible = isVisible;
  }

  async open(server: Server, name: string | undefined): Promise<void> {
    const feed = await SharedFeed.start({
      name,
      open: server.open,
      isVisible: () => this.isVisible,
      onUnreachable: () => undefined,
    });
    if (this.isGone) feed.leave();
    this.feed = feed;
    this.last = lastOf(feed.begin());
    for await (const change of feed) {
      if (change.type === 'gap') this.last = lastOf(change.model);
      else if (change.id === this.last + 1) this.last = change.id;
      else this.faults.push(`${change.id} after ${this.last}`);
    }
  }

  close(): void {
    this.isGone = true;
    this.feed?.leave();
  }
}

const lastOf = ({ realmName }: Model): number => Number(realmName);

type Step =
  | { do: 'open'; isVisible: boolean }
  | { do: 'close' | 'put away and return' | 'show'; at: number }
  | { do: 'happen'; count: number }
  | { do: 'expire' };
const steps = fc.array(
  fc.record({
    step: fc.oneof<fc.Arbitrary<Step>[]>(
      fc.record({ do: fc.constant('open'), isVisible: fc.boolean() }),
      fc.record({ do: fc.constantFrom('close', 'put away and return', 'show'), at: fc.nat(5) }),
      fc.record({ do: fc.constant('happen'), count: fc.integer({ min: 1, max: 5 }) }),
      fc.record({ do: fc.constant('expire') }),
    ),
    /** Time until the next step. */
    turns: fc.nat(6),
  }),
  { maxLength: 20 },
);

let tabs: Tab[] = [];
afterEach(() => {
  vi.unstubAllGlobals();
  for (const tab of tabs) tab.close();
  tabs = [];
});

const often = { interval: 2 };

async function take(server: Server, step: Step, open: (isVisible: boolean) => void): Promise<void> {
  const living = tabs.filter(({ isGone, feed }) => !isGone && feed);
  const tab = 'at' in step ? living[step.at % living.length] : undefined;
  if (step.do === 'open') open(step.isVisible);
  else if (step.do === 'expire') server.expire();
  else if (step.do === 'happen') for (let n = 0; n < step.count; n++) server.happen();
  else if (step.do === 'close' && living.length > 1) tab?.close();
  else if (step.do === 'show') tab?.feed?.shown();
  else if (step.do === 'put away and return') {
    tab?.feed?.leave();
    await turn();
    tab?.feed?.join();
  }
}

test('while tabs open, close and wait, one poll gives each tab every event once and the current state', async () => {
  await fc.assert(
    fc.asyncProperty(steps, async (plan) => {
      const server = new Server();
      const name = `test ${randomId()}`;
      const open = (isVisible: boolean): void => {
        const tab = new Tab(isVisible);
        tabs.push(tab);
        tab.open(server, name).catch((error: unknown) => tab.faults.push(String(error)));
      };
      open(true);
      for (const { step, turns } of plan) {
        await take(server, step, open);
        for (let n = 0; n < turns; n++) await turn();
      }
      server.happen();
      const living = tabs.filter(({ isGone }) => !isGone);
      await expect.poll(() => living.every(({ last }) => last === server.last), often).toBe(true);
      const fresh = modelOf(server.snapshot(''));
      expect(living.map(({ feed }) => feed?.model)).toEqual(living.map(() => fresh));
      expect(tabs.flatMap(({ faults }) => faults)).toEqual([]);
      await expect.poll(() => server.polls, often).toBe(1);
      expect(living.filter(({ feed }) => feed?.isLeading)).toHaveLength(1);
      for (const tab of tabs) tab.close();
      tabs = [];
    }),
    { numRuns: 40 },
  );
});

test('tabs that cannot share have their own queues', async () => {
  // A page that was loaded by HTTP from another machine has only this function of `crypto`.
  vi.stubGlobal('crypto', { getRandomValues: (bytes: Uint8Array<ArrayBuffer>) => webcrypto.getRandomValues(bytes) });
  const server = new Server();
  tabs = [new Tab(true), new Tab(true)];
  for (const tab of tabs) void tab.open(server, undefined);
  await expect.poll(() => server.polls, often).toBe(2);
  server.happen();
  await expect.poll(() => tabs.map(({ last }) => last), often).toEqual([1, 1]);
});

test('a tab whose leader does not answer takes the lead', async () => {
  const server = new Server();
  const name = `test ${randomId()}`;
  // A page that the browser stopped holds the lock, and hears nothing.
  const stopped = navigator.locks.request(name, () => new Promise(() => undefined));
  stopped.catch(() => undefined);
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
  const tab = new Tab(true);
  tabs = [tab];
  void tab.open(server, name);
  await turn();
  vi.advanceTimersByTime(60_000);
  vi.useRealTimers();
  await expect.poll(() => tab.feed?.isLeading, often).toBe(true);
});

test('a tab that missed an event takes the state of the leader and skips the events in it', async () => {
  const server = new Server();
  const name = `test ${randomId()}`;
  const held = navigator.locks.request(name, () => new Promise(() => undefined));
  held.catch(() => undefined);
  const leader = new BroadcastChannel(name);
  let last = 1;
  const at = (n: number) => ({ queue_id: 'a queue', last_event_id: n });
  const say = (n: number): void =>
    leader.postMessage({ type: 'event', after: at(n - 1), event: eventOf(n), position: at(n) });
  leader.onmessage = ({ data }) => {
    if (data.type !== 'ask') return;
    const model = { ...modelOf(server.snapshot('')), realmName: String(last) };
    leader.postMessage({ type: 'point', to: data.from, isVisible: true, point: { model, position: at(last) } });
  };
  const tab = new Tab(true);
  tabs = [tab];
  void tab.open(server, name);
  await expect.poll(() => tab.last, often).toBe(1);
  last = 3;
  say(3);
  await expect.poll(() => tab.last, often).toBe(3);
  say(3);
  say(4);
  await expect.poll(() => tab.last, often).toBe(4);
  expect([tab.faults, lastOf((tab.feed as SharedFeed).model)]).toEqual([[], 4]);
  leader.close();
});

/** A leader that sends the messages of a test, in place of another tab. */
function otherLeader(name: string) {
  const held = navigator.locks.request(name, () => new Promise(() => undefined));
  held.catch(() => undefined);
  const channel = new BroadcastChannel(name);
  const point = (isVisible: boolean, to?: string) => {
    const position = { queue_id: 'a queue', last_event_id: 0 };
    channel.postMessage({
      type: 'point',
      isVisible,
      point: { model: modelOf(new Server().snapshot('')), position },
      to,
    });
  };
  return { channel, point };
}

test('a visible tab takes the lead from a leader that stops responding', async () => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
  try {
    const server = new Server();
    const name = `test ${randomId()}`;
    const { channel, point } = otherLeader(name);
    channel.onmessage = ({ data }) => data.type === 'ask' && point(true, data.from);
    const tab = new Tab(true);
    tabs = [tab];
    void tab.open(server, name);
    while (tab.last < 0) await turn();
    expect(tab.feed?.isLeading).toBe(false);
    vi.advanceTimersByTime(60_000);
    while (!tab.feed?.isLeading) await turn();
    channel.close();
  } finally {
    vi.useRealTimers();
  }
});

test('a visible tab takes the lead from a hidden one that has a new queue', async () => {
  const server = new Server();
  const name = `test ${randomId()}`;
  const { channel, point } = otherLeader(name);
  channel.onmessage = ({ data }) => data.type === 'ask' && point(false);
  const tab = new Tab(true);
  tabs = [tab];
  void tab.open(server, name);
  await expect.poll(() => tab.feed?.isLeading, often).toBe(true);
  channel.close();
});

test('a tab whose browser refuses locks leads alone, after one request', async () => {
  const server = new Server();
  let requests = 0;
  const request = async () => {
    if (++requests > 10) await new Promise(() => undefined);
    throw new DOMException('', 'SecurityError');
  };
  vi.stubGlobal('navigator', { locks: { request } });
  const tab = new Tab(true);
  tabs = [tab];
  void tab.open(server, `test ${randomId()}`);
  await expect.poll(() => tab.feed?.isLeading, often).toBe(true);
  expect(requests).toBe(1);
});

test('a tab that loses the lead before it has a position requests one', async () => {
  const name = `test ${randomId()}`;
  const tab = new Tab(true);
  tabs = [tab];
  let isAsked = (): void => undefined;
  const asked = new Promise<void>((resolve) => {
    isAsked = resolve;
  });
  // Its register is not answered.
  const open = () => {
    isAsked();
    return new Promise<never>(() => undefined);
  };
  void tab.open({ open } as unknown as Server, name);
  await asked;
  const heard = new BroadcastChannel(name);
  const again = new Promise<void>((resolve) => {
    heard.onmessage = ({ data }) => data.type === 'ask' && resolve();
  });
  navigator.locks.request(name, { steal: true }, () => new Promise(() => undefined)).catch(() => undefined);
  await again;
  heard.close();
  expect(tab.feed).toBeUndefined();
});

test('a feed whose reader failed loses the lead permanently', async () => {
  const server = new Server();
  const options = { name: undefined, open: server.open, isVisible: () => true, onUnreachable: () => undefined };
  const feed = await SharedFeed.start(options);
  const reading = (async () => {
    for await (const _ of feed) throw new Error('The reader failed');
  })();
  server.happen();
  await expect(reading).rejects.toThrow('The reader failed');
  feed.join();
  await expect.poll(() => server.polls, often).toBe(0);
  expect(feed.isLeading).toBe(false);
});
