import { type Actor, idsPerNumber, type LogEntry, type QueueRecord } from '@natter/contracts';
import fc from 'fast-check';
import { afterEach, expect, test, vi } from 'vitest';
import type { RealmTail } from '../log-tail/realm-tail.ts';
import { createEventTexts } from './event-texts.ts';
import { createArrivals } from './poll-arrivals.ts';
import { createQueueScans, type ScanContext } from './queue-scan.ts';

afterEach(() => void vi.useRealTimers());

const meta = { requestId: '', realmId: 1, client: '' };
const queue = {
  queue_id: 'q',
  realm_id: 1,
  user_id: 7,
  start: 0,
  created_at: 0,
  event_types: null,
  capabilities: {},
} as unknown as QueueRecord;

const entryOf = (number: number, event: object): LogEntry => ({
  number,
  n: 0,
  mark: number,
  previousMark: number - 1,
  at: 0,
  event: { type: 'alert_words', body: {}, audience: { users: { ids: [7] } }, ...event } as unknown as LogEntry['event'],
});

const scansOf = () =>
  createQueueScans({
    log: { now: () => Date.now() },
    texts: createEventTexts(1_000_000),
    onDelivered: () => undefined,
    maxQueues: 10,
  } as unknown as ScanContext);
const alone = { isOver: () => false, inTurn: (work: () => Promise<void>) => work() };

/** The answer to a poll of user 7 that is woken after these entries arrived. */
async function answerAfter(entries: LogEntry[], isLost = false): Promise<number[]> {
  const arrivals = createArrivals();
  const actor = { realmId: 1, userId: 7 } as Actor;
  const { arrival } = arrivals.add('q', actor);
  for (const entry of entries) arrivals.follow(1, entry);
  if (isLost) arrivals.revokeAll(1);
  const last = entries.at(-1)?.number ?? 0;
  const after = ({ number }: { number: number }, most = entries.length) =>
    entries.filter((entry) => entry.number > number).slice(0, most);
  const tail = { after, position: { number: last, n: 0 } } as unknown as RealmTail;
  const scan = await scansOf().start({ tail, queue, actor, meta, arrival, lastEventId: -1, ...alone });
  return (await scan.next(true)).map((event) => JSON.parse(event).id);
}

const deactivated = { type: 'realm', op: 'deactivated' };
const changed = (user_id: number) => ({ type: 'credentials_changed', body: { user_id } });

test('a poll returns the event that ends its credentials and no later event', async () => {
  const around = (event: object) => [entryOf(1, {}), entryOf(2, event), entryOf(3, {})];
  const idOf = await answerAfter([entryOf(1, {}), entryOf(2, {}), entryOf(3, {})]);
  expect(idOf).toHaveLength(3);
  expect(await answerAfter(around(deactivated))).toEqual(idOf.slice(0, 2));
  // No client sees this one.
  expect(await answerAfter(around(changed(7)))).toEqual(idOf.slice(0, 1));
  expect(await answerAfter([...around(changed(7)), entryOf(4, deactivated)])).toEqual(idOf.slice(0, 1));
  expect(await answerAfter(around(changed(8)))).toEqual([idOf[0], idOf[2]]);
});

test('a poll returns no events after a gap in the log, and no withheld events after its credentials ended', async () => {
  expect(await answerAfter([entryOf(1, {}), entryOf(2, deactivated)], true)).toEqual([]);
  const withheld = entryOf(1, { withheld: {} });
  expect(await answerAfter([withheld, entryOf(2, changed(7))])).toEqual([]);
});

test('a scan of many entries for other queues lets other requests run', async () => {
  const others = Array.from({ length: 3_000 }, (_, index) => entryOf(index + 1, { audience: { users: { ids: [8] } } }));
  let turns = 0;
  const count = (): void => {
    turns++;
    next = setImmediate(count);
  };
  let next = setImmediate(count);
  const answer = await answerAfter([...others, entryOf(3_001, {})]);
  clearImmediate(next);
  expect(answer).toHaveLength(1);
  expect(turns).toBeGreaterThan(3);
});

/** A log in memory that grows, and polls of one queue of user 7 with any cursor. */
function growingLog() {
  const entries: LogEntry[] = [];
  let looked = 0;
  const turns: number[] = [];
  const scans = scansOf();
  const tail = {
    after: ({ number, n }: LogEntry, most = entries.length) =>
      entries.filter((entry) => entry.number > number || (entry.number === number && entry.n > n)).slice(0, most),
    get position() {
      const { number, n } = entries.at(-1) ?? { number: 0, n: 0 };
      return { number, n };
    },
  } as unknown as RealmTail;
  return {
    /** Number of entries that were compared with the filter of the queue. */
    get looked() {
      return looked;
    },
    /** Number of compared entries at the beginning of each turn. */
    turns,
    append(areFor: readonly boolean[], n = 0) {
      const before = entries.at(-1)?.number ?? 0;
      areFor.forEach((isFor, index) => {
        const event = entryOf(0, isFor ? {} : { audience: { users: { ids: [8] } } }).event;
        const number = n > 0 ? before : before + index + 1;
        const entry = { ...entryOf(number, {}), n: n > 0 ? n + index : 0, at: Date.now() };
        Object.defineProperty(entry, 'event', {
          get: () => {
            looked++;
            return event;
          },
        });
        entries.push(entry);
      });
    },
    async poll(lastEventId: number, isOver = () => false): Promise<number[]> {
      const actor = { realmId: 1, userId: 7 } as Actor;
      const { arrival } = createArrivals().add('q', actor);
      const inTurn = (work: () => Promise<void>) => {
        turns.push(looked);
        return work();
      };
      const scan = await scans.start({ tail, queue, actor, meta, arrival, lastEventId, isOver, inTurn });
      return (await scan.next(true)).map((event) => JSON.parse(event).id);
    },
  };
}

test('a cursor cannot make a gateway scan entries for other queues again', async () => {
  const log = growingLog();
  log.append(Array(10_000).fill(false));
  expect(await log.poll(-1)).toEqual([]);
  const once = log.looked;
  for (const cursor of [0, -1, 0, 5_000 * idsPerNumber, 9_000 * idsPerNumber, 1, 0])
    expect(await log.poll(cursor)).toEqual([]);
  expect(log.looked).toBe(once);
  log.append([true, ...Array(10_000).fill(false)]);
  expect([await log.poll(0), await log.poll(5_000 * idsPerNumber)]).toEqual(Array(2).fill([10_001 * idsPerNumber]));
  expect(await log.poll(10_001 * idsPerNumber)).toEqual([]);
  const twice = log.looked;
  for (const cursor of [10_001 * idsPerNumber, 0, 10_001 * idsPerNumber, 0]) await log.poll(cursor);
  // Behind a match, at most the page is read to its end.
  expect(log.looked - twice).toBeLessThan(2_000);
});

test('polls with any cursor get each later event once, in order', async () => {
  const step = fc.oneof(
    fc.record({
      append: fc.array(
        fc.nat(3).map((one) => one === 0),
        { maxLength: 6 },
      ),
      times: fc.constantFrom(1, 1, 700),
    }),
    fc.record({ ephemeral: fc.boolean() }),
    fc.record({ cursor: fc.double({ min: 0, max: 1, noNaN: true }), isOver: fc.boolean() }),
  );
  await fc.assert(
    fc.asyncProperty(fc.array(step, { maxLength: 30 }), async (steps) => {
      const log = growingLog();
      const ids: number[] = [];
      let [number, n] = [0, 0];
      for (const one of steps) {
        if ('append' in one) {
          // The first one alone is repeated, so that there are long stretches of one kind.
          const added = one.append.flatMap((isFor) => (isFor ? [true] : Array(one.times).fill(false)));
          log.append(added);
          for (const isFor of added) {
            number++;
            if (isFor) ids.push(number * idsPerNumber);
          }
          if (added.length > 0) n = 0;
        } else if ('ephemeral' in one) {
          if (number === 0 || n >= 20) continue;
          log.append([one.ephemeral], ++n);
          if (one.ephemeral) ids.push(number * idsPerNumber + n);
        } else {
          const cursor = Math.floor(one.cursor * (number * idsPerNumber + n + 1)) - 1;
          const expected = ids.filter((id) => id > cursor);
          const found = await log.poll(cursor, () => one.isOver);
          expect(found).toEqual(expected.slice(0, found.length));
          if (!one.isOver && found.length === 0) expect(expected).toEqual([]);
        }
      }
    }),
    { numRuns: 60 },
  );
});

test('a long scan ends when its client leaves, and the next scan continues there', async () => {
  const log = growingLog();
  log.append(Array(50_000).fill(false));
  expect(await log.poll(0, () => log.looked > 100)).toEqual([]);
  const first = log.looked;
  expect(first).toBeLessThan(2_000);
  await log.poll(0);
  expect(log.looked).toBeLessThan(50_000 * 1.1 * (first / 500));
});

test('a short scan does not wait, and a long one runs in turns of its user', async () => {
  const log = growingLog();
  log.append(Array(1_000).fill(false));
  await log.poll(0);
  expect(log.turns).toEqual([]);
  log.append(Array(100_000).fill(false));
  await log.poll(0);
  expect(log.turns.length).toBeGreaterThan(3);
});

test('a poll ends even if Redis lost ephemeral entries that the gateway no longer has in memory', async () => {
  const floor = { number: 3, n: 2 };
  const tail = { after: ({ n }: LogEntry) => (n < 2 ? undefined : []), position: floor, floor } as unknown as RealmTail;
  const scans = createQueueScans({
    bus: { call: async () => ({ clock: 3, floor: 0, entries: [] }) },
    log: { rangeScript: async () => ({ rows: [], isAtEnd: true }) },
    maxQueues: 10,
  } as unknown as ScanContext);
  const actor = { realmId: 1, userId: 7 } as Actor;
  const { arrival } = createArrivals().add('q', actor);
  const lastEventId = 3 * idsPerNumber;
  const scan = await scans.start({ tail, queue, actor, meta, arrival, lastEventId, ...alone });
  expect(await scan.next(true)).toEqual([]);
  expect(scan.lastId).toBe(lastEventId + 2);
});

/** A poll behind an ephemeral entry that only Redis has, which does not answer; the record has entries of `record`. */
async function pollWithoutRedis(record: LogEntry[]) {
  const position = { number: 3, n: 2 };
  const listeners = new Set<() => void>();
  const tail = {
    after: ({ number }: LogEntry) => (number < 4 ? undefined : []),
    position,
    floor: { number: 3, n: 2 },
    onGrowth: (listener: () => void) => {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
  } as unknown as RealmTail;
  const asked = { record: 0, isOver: false };
  const scans = createQueueScans({
    bus: {
      call: async () => {
        asked.record++;
        return { clock: 3, floor: 0, entries: record };
      },
    },
    log: { rangeScript: () => Promise.reject(new Error('away')), now: () => Date.now() },
    texts: createEventTexts(1_000_000),
    onDelivered: () => undefined,
    maxQueues: 10,
  } as unknown as ScanContext);
  const actor = { realmId: 1, userId: 7 } as Actor;
  const { arrival } = createArrivals().add('q', actor);
  const poll = { ...alone, isOver: () => asked.isOver };
  const scan = await scans.start({ tail, queue, actor, meta, arrival, lastEventId: 3 * idsPerNumber, ...poll });
  const answer = scan.next(true);
  const grow = (): void => {
    position.number = 4;
    position.n = 0;
    for (const listener of [...listeners]) listener();
  };
  return { asked, answer, grow, listeners };
}

test('a poll that needs Redis while it is unavailable reads the record about once a second', async () => {
  vi.useFakeTimers();
  const { asked, answer, listeners } = await pollWithoutRedis([]);
  await vi.advanceTimersByTimeAsync(60_000);
  expect(asked.record).toBeGreaterThan(50);
  expect(asked.record).toBeLessThan(150);
  asked.isOver = true;
  await vi.advanceTimersByTimeAsync(1_000);
  expect([await answer, listeners.size]).toEqual([[], 0]);
});

test('a poll that needs Redis while it is unavailable gets the next durable event from the tail', async () => {
  vi.useFakeTimers();
  const record: LogEntry[] = [];
  const { answer, grow } = await pollWithoutRedis(record);
  await vi.advanceTimersByTimeAsync(30_000);
  record.push(entryOf(4, {}));
  grow();
  expect((await answer).map((event) => JSON.parse(event).id)).toEqual([4 * idsPerNumber]);
});
