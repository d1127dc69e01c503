import type { Actor, LogEntry, QueueRecord } from '@natter/contracts';
import { expect, test } from 'vitest';
import type { RealmTail } from '../log-tail/realm-tail.ts';
import { createArrivals } from './poll-arrivals.ts';
import { createQueueScans, type ScanContext } from './queue-scan.ts';

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
  event: { type: 'restart', body: {}, audience: { users: { ids: [7] } }, ...event } as unknown as LogEntry['event'],
});

/** The answer to a poll of user 7 that is woken after these entries arrived. */
async function answerAfter(entries: LogEntry[], isLost = false): Promise<number[]> {
  const arrivals = createArrivals();
  const actor = { realmId: 1, userId: 7 } as Actor;
  const { arrival } = arrivals.add('q', actor);
  for (const entry of entries) arrivals.follow(1, entry);
  if (isLost) arrivals.revokeAll(1);
  const last = entries.at(-1)?.number ?? 0;
  const after = ({ number }: { number: number }) => entries.filter((entry) => entry.number > number);
  const tail = { after, position: { number: last, n: 0 } } as unknown as RealmTail;
  const scans = createQueueScans({
    log: { now: () => Date.now() },
    onDelivered: () => undefined,
    maxQueues: 10,
  } as unknown as ScanContext);
  const scan = await scans.start({ tail, queue, actor, meta, arrival, lastEventId: -1 });
  return (await scan.next(true)).map((event) => JSON.parse(event).id);
}

const deactivated = { type: 'realm', op: 'deactivated' };
const changed = (user_id: number) => ({ type: 'credentials_changed', body: { user_id } });

test('a poll answers with the event that ends its credentials, and with nothing after it', async () => {
  const around = (event: object) => [entryOf(1, {}), entryOf(2, event), entryOf(3, {})];
  const idOf = await answerAfter([entryOf(1, {}), entryOf(2, {}), entryOf(3, {})]);
  expect(idOf).toHaveLength(3);
  expect(await answerAfter(around(deactivated))).toEqual(idOf.slice(0, 2));
  // No client sees this one.
  expect(await answerAfter(around(changed(7)))).toEqual(idOf.slice(0, 1));
  expect(await answerAfter([...around(changed(7)), entryOf(4, deactivated)])).toEqual(idOf.slice(0, 1));
  expect(await answerAfter(around(changed(8)))).toEqual([idOf[0], idOf[2]]);
});

test('a poll answers with nothing after a gap in the log, and with nothing withheld after the end of its credentials', async () => {
  expect(await answerAfter([entryOf(1, {}), entryOf(2, deactivated)], true)).toEqual([]);
  const withheld = entryOf(1, { withheld: {} });
  expect(await answerAfter([withheld, entryOf(2, changed(7))])).toEqual([]);
});

test('a scan of many entries that are not for the queue lets other requests have their turn', async () => {
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
