import type { Call } from './call.ts';
import { changed, rowsOf, type Shape } from './shape.ts';
import { clockOf } from './shapes-log.ts';
import { listOf } from './statement.ts';
import type { Transaction } from './transaction.ts';

/** Tables `event_queue.queue` and `event_queue.alive`. */
interface QueueRow {
  realmId: number;
  userId: number;
  epoch: number;
  record: string;
  idleMs: number;
  expiresAt: number;
}
const table = 'event_queue.queue';
const aliveTable = 'event_queue.alive';

const queueOf = (tx: Transaction, id: unknown): QueueRow | undefined =>
  tx.get(table, String(id)) as unknown as QueueRow | undefined;
const queues = (tx: Transaction): [string, QueueRow][] =>
  [...tx.rows(table)].map(([id, row]) => [id, row as unknown as QueueRow]);
const byId = ([a]: [string, QueueRow], [b]: [string, QueueRow]): number => (a < b ? -1 : 1);
const aliveAt = (tx: Transaction): number => (tx.get(aliveTable, '')?.at as number | undefined) ?? 0;

const isAhead = ({ tx, server }: Call): boolean => aliveAt(tx) > server.now();

/** Whether a queue has not expired; the same condition as `lives` of event-queue. */
function lives(call: Call, queue: QueueRow, outageSeconds: unknown): boolean {
  const { tx, server } = call;
  const at = aliveAt(tx);
  const graceMs = Number(outageSeconds) * 1_000;
  if (isAhead(call)) return true;
  return queue.expiresAt > (at < server.now() - graceMs ? at : server.now()) - graceMs;
}

async function insert({ tx, values, server }: Call) {
  const [id, realm, user, epoch, record, idle, , factor] = values;
  const idleMs = Number(idle) * 1_000;
  const row: QueueRow = {
    realmId: Number(realm),
    userId: Number(user),
    epoch: Number(epoch),
    record: String(record),
    idleMs,
    expiresAt: server.now() + idleMs * Number(factor),
  };
  await tx.lock(`${table} ${id}`);
  const before = queueOf(tx, id);
  const kept = before?.epoch === row.epoch ? before.record : row.record;
  tx.put(table, String(id), { ...(before ?? row), epoch: row.epoch, expiresAt: row.expiresAt, record: kept });
  return rowsOf({ record: JSON.parse(kept) });
}

async function touch(call: Call) {
  const { tx, values, server } = call;
  const [realm, ids, , outageSeconds, factor] = values;
  const touched: { queue_id: string }[] = [];
  for (const id of listOf<string>(ids).sort()) {
    await tx.lock(`${table} ${id}`);
    const queue = queueOf(tx, id);
    if (!queue || queue.realmId !== Number(realm) || !lives(call, queue, outageSeconds)) continue;
    tx.put(table, id, { ...queue, expiresAt: server.now() + queue.idleMs * Number(factor) });
    touched.push({ queue_id: id });
  }
  return rowsOf(...touched);
}

/** Advances the mark that clients can poll; returns it where it stood still in an outage. */
async function mark(call: Call) {
  const { tx, values, server } = call;
  const graceMs = Number(values[1]) * 1_000;
  const isDue = () => (aliveAt(tx) < server.now() - 500 && aliveAt(tx) >= server.now() - graceMs) || isAhead(call);
  const before = aliveAt(tx);
  if (isDue()) {
    await tx.lock(`${aliveTable} `);
    if (isDue()) tx.put(aliveTable, '', { at: Math.floor(server.now()) });
  }
  return before < server.now() - graceMs ? rowsOf({ at: new Date(before).toISOString() }) : rowsOf();
}

/** Extends a batch of queues after an outage. */
async function extend({ tx, values, server }: Call) {
  const [after, at, outageSeconds, , limit, , factor] = values;
  const since = Date.parse(String(at));
  const isNext = (queue: QueueRow): boolean => queue.expiresAt > since - Number(outageSeconds) * 1_000;
  const found = queues(tx).filter(([id, queue]) => id > String(after) && isNext(queue) && aliveAt(tx) === since);
  const ids: string[] = [];
  for (const [id] of found.sort(byId)) {
    if (ids.length === Number(limit)) break;
    await tx.lock(`${table} ${id}`);
    const queue = queueOf(tx, id);
    if (!queue || !isNext(queue)) continue;
    const longest = Math.min(queue.expiresAt + server.now() - since, server.now() + queue.idleMs * Number(factor));
    tx.put(table, id, { ...queue, expiresAt: Math.max(queue.expiresAt, longest) });
    ids.push(id);
  }
  return rowsOf({ count: ids.length, last: ids.at(-1) ?? null });
}

async function endOutage({ tx, values, server }: Call) {
  const isSame = () => aliveAt(tx) === Date.parse(String(values[0]));
  if (isSame()) await tx.lock(`${aliveTable} `);
  if (!isSame()) return changed(0);
  tx.put(aliveTable, '', { at: Math.floor(server.now()) });
  return changed(1);
}

async function remove(tx: Transaction, isRemoved: (queue: QueueRow, id: string) => boolean) {
  const removed: { realm_id: number; queue_id: string }[] = [];
  const found = queues(tx).filter(([id, queue]) => isRemoved(queue, id));
  for (const [id] of found.sort(byId)) {
    await tx.lock(`${table} ${id}`);
    const queue = queueOf(tx, id);
    if (!queue || !isRemoved(queue, id)) continue;
    tx.put(table, id, undefined);
    removed.push({ realm_id: queue.realmId, queue_id: id });
  }
  return rowsOf(...removed);
}

export const queueShapes: Shape[] = [
  [/^INSERT INTO event_queue\.queue/, insert],
  [/^WITH held AS \(SELECT queue\.queue_id FROM event_queue\.queue WHERE realm_id = \? AND queue_id = ANY/, touch],
  [/^WITH reached AS \(.*\), marked AS \(UPDATE event_queue\.alive SET at = now\(\)/, mark],
  [/^WITH held AS \(SELECT queue\.queue_id FROM event_queue\.queue WHERE queue\.queue_id > \?/, extend],
  [/^WITH ended AS \(UPDATE event_queue\.alive SET at = now\(\) WHERE at = /, endOutage],
  // No partition expires here, so nothing depends on past outages.
  [/^DELETE FROM event_queue\.outage /, () => changed(0)],
  [
    /^SELECT q\.record FROM unnest\(/,
    (call) => {
      const { tx, values } = call;
      const [realms, ids] = [listOf<number>(values[0]), listOf<string>(values[1])];
      const found = ids.flatMap((id, index) => {
        const queue = queueOf(tx, id);
        const isFound = queue && queue.realmId === realms[index] && lives(call, queue, values[3]);
        return isFound && clockOf(tx, queue.realmId)?.epoch === queue.epoch
          ? [{ record: JSON.parse(queue.record) }]
          : [];
      });
      return rowsOf(...found);
    },
  ],
  [
    /^SELECT count\(\*\) FROM event_queue\.queue WHERE realm_id = \? AND user_id = \?/,
    ({ tx, values: [realm, user], server }) => {
      const mine = queues(tx).filter(
        ([, { realmId, userId, expiresAt }]) => realmId === realm && userId === user && expiresAt > server.now(),
      );
      return rowsOf({ count: mine.length });
    },
  ],
  [
    /^SELECT count\(\*\) FROM event_queue\.queue WHERE expires_at/,
    ({ tx, server }) => rowsOf({ count: queues(tx).filter(([, { expiresAt }]) => expiresAt > server.now()).length }),
  ],
  [
    /^WITH due AS \(SELECT queue_id FROM event_queue\.queue WHERE expires_at < now\(\)/,
    (call) => {
      const { tx, values, server } = call;
      const isOutage = aliveAt(tx) < server.now() - Number(values[1]) * 1_000 || isAhead(call);
      return remove(tx, ({ expiresAt }) => !isOutage && expiresAt < server.now() - 10_000);
    },
  ],
  [
    /^WITH held AS \(SELECT queue\.queue_id FROM event_queue\.queue WHERE realm_id = \? AND epoch < \?/,
    ({ tx, values: [realm, epoch] }) =>
      remove(tx, (queue) => queue.realmId === Number(realm) && queue.epoch < Number(epoch)),
  ],
  [
    /^WITH held AS \(SELECT queue\.queue_id FROM event_queue\.queue WHERE realm_id = \? AND user_id = \?/,
    ({ tx, values: [realm, user] }) =>
      remove(tx, (queue) => queue.realmId === Number(realm) && queue.userId === Number(user)),
  ],
];
