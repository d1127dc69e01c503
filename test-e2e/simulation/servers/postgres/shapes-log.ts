import { ownsEvent } from '@natter/contracts';
import type { Call } from './call.ts';
import { PostgresError } from './postgres-error.ts';
import { rowsOf, type Shape } from './shape.ts';
import { listOf } from './statement.ts';
import type { Row, Transaction } from './transaction.ts';

/** The functions of the schema `log`, as `libs/database/migrations` declares them. */
export interface Clock {
  number: number;
  mark: number;
  epoch: number;
  floor: number;
  dropped: number;
  lastAt: number;
}
export interface RecordedEvent {
  realmId: number;
  number: number;
  mark: number;
  previousMark: number;
  source: string;
  type: string;
  event: string;
  at: number;
}

export const clockTable = 'log.clock';
const versionTable = 'log.version';
const eventTable = 'log.event';

export const newClock = (): Clock => ({ number: 0, mark: 0, epoch: 1, floor: 0, dropped: 0, lastAt: 0 });
export const clockOf = (tx: Transaction, realm: unknown): Clock | undefined =>
  tx.get(clockTable, String(realm)) as Clock | undefined;
const eventKey = (realm: unknown, number: number): string => `${realm} ${number}`;

function* readEvents(tx: Transaction, realm: unknown, after: number): Generator<RecordedEvent> {
  const clock = clockOf(tx, realm);
  for (let number = Math.max(after, clock?.dropped ?? 0) + 1; number <= (clock?.number ?? 0); number++) {
    const event = tx.get(eventTable, eventKey(realm, number)) as RecordedEvent | undefined;
    if (event) yield event;
  }
}

interface TypesRead {
  realm: unknown;
  after: number;
  through: number;
  types: string[];
  limit: number;
}

export function readTypes(tx: Transaction, { realm, after, through, types, limit }: TypesRead): RecordedEvent[] {
  const found: RecordedEvent[] = [];
  for (const event of readEvents(tx, realm, after)) {
    if (event.number > through || found.length >= limit) break;
    if (types.includes(event.type)) found.push(event);
  }
  return found;
}

/** The first of these events, up to a size. */
export function readSomeTypes(tx: Transaction, read: TypesRead, maxBytes: number) {
  const found: RecordedEvent[] = [];
  let bytes = 0;
  for (const event of readTypes(tx, read)) {
    found.push(event);
    bytes += Buffer.byteLength(event.event);
    if (bytes >= maxBytes) break;
  }
  return { found, isFull: found.length >= read.limit || bytes >= maxBytes };
}

const storedVersion = (tx: Transaction, realm: unknown, key: string): number =>
  (tx.get(versionTable, `${realm} ${key}`)?.version as number | undefined) ?? 0;
/** No server is promoted here, so the timeline adds nothing. */
const versionBase = (epoch: number): number => ((epoch - 1) % 100) * 10_000;

export const versionOf = (tx: Transaction, realm: unknown, key: string): number =>
  storedVersion(tx, realm, key) + versionBase(clockOf(tx, realm)?.epoch ?? 1);

const staleKey = (tx: Transaction, realm: unknown, expected: Record<string, number>): string | undefined =>
  Object.entries(expected).find(([key, version]) => versionOf(tx, realm, key) !== version)?.[0];

async function append(call: Call) {
  const { tx, values, role } = call;
  const [realm, expected, bumps, source, events] = values;
  if (source !== role) throw new PostgresError('42501', `natter_${role} is not the source ${source}`);
  await tx.lock(`${clockTable} ${realm}`);
  if (!clockOf(tx, realm)) throw new PostgresError('NT404', `no clock for realm ${realm}`);
  const stale = staleKey(tx, realm, JSON.parse(String(expected)));
  if (stale !== undefined) throw new PostgresError('NT409', `basis changed: ${stale}`);
  for (const key of new Set(listOf<string>(bumps)))
    tx.put(versionTable, `${realm} ${key}`, { version: storedVersion(tx, realm, key) + 1 });
  return rowsOf({ appended: insertEvents(call, realm, JSON.parse(String(events))) });
}

interface Item {
  realm_id: number;
  /** The expected versions. */
  basis: Record<string, number>;
  events: { type: string }[];
}

function appendMany(call: Call) {
  const { tx, values, role, server } = call;
  const [source, items] = values;
  if (source !== role) throw new PostgresError('42501', `natter_${role} is not the source ${source}`);
  const held = (JSON.parse(String(items)) as Item[]).filter(
    ({ realm_id }) =>
      clockOf(tx, realm_id) && !server.random.chance(server.clockHeld) && tx.tryLock(`${clockTable} ${realm_id}`),
  );
  const appended = held.map(({ realm_id, basis, events }) => {
    const stale = staleKey(tx, realm_id, basis);
    if (stale !== undefined) return { realm_id, stale };
    const numbers = insertEvents(call, realm_id, events);
    tx.appended.set(realm_id, numbers.first + events.length - 1);
    return { realm_id, ...numbers };
  });
  // Realms with stale versions come last.
  const isStale = (one: object): number => Number('stale' in one);
  appended.sort((one, other) => isStale(one) - isStale(other) || one.realm_id - other.realm_id);
  return rowsOf({ appended });
}

function insertEvents({ tx, role, server }: Call, realm: unknown, list: { type: string }[]) {
  const clock = clockOf(tx, realm) ?? newClock();
  const service = role.replace('_', '-');
  const at = Math.max(server.now(), clock.lastAt);
  const marks = list.map(() => 1 + server.random.below(2_147_483_646));
  for (const [index, event] of list.entries()) {
    if (!ownsEvent(service, event.type)) throw new PostgresError('42501', `${role} does not append ${event.type}`);
    const number = clock.number + index + 1;
    const recorded: RecordedEvent = {
      realmId: Number(realm),
      number,
      mark: marks[index] ?? 0,
      previousMark: index === 0 ? clock.mark : (marks[index - 1] ?? 0),
      source: role,
      type: event.type,
      event: JSON.stringify(event),
      at,
    };
    tx.put(eventTable, eventKey(realm, number), recorded as unknown as Row);
  }
  const number = clock.number + list.length;
  if (list.length > 0) tx.put(clockTable, String(realm), { ...clock, number, mark: marks.at(-1) ?? 0, lastAt: at });
  return { first: clock.number + 1, marks: list.length > 0 ? marks : null, previous_mark: clock.mark, at };
}

/**
 * The rows with log numbers that a statement writes. `numbers`: the beginning of the table with which it joins them, where
 * a realm that was not appended to is missing.
 */
export function numberedRows<R>({ tx, values }: Call, numbers: string): (R & { realm_id: number; number: number })[] {
  const rows = JSON.parse(String(values.at(-1))) as (R & { realm_id: number; from_end: number })[];
  return rows.flatMap((row) => {
    const last = numbers.startsWith('log.appended') ? tx.appended.get(row.realm_id) : clockOf(tx, row.realm_id)?.number;
    return last === undefined ? [] : [{ ...row, number: last - row.from_end }];
  });
}

const recordRow = ({ number, mark, previousMark, event, at }: RecordedEvent) => ({
  number,
  mark,
  previous_mark: previousMark,
  event: JSON.parse(event),
  at,
});

function positionRows(tx: Transaction, realm: unknown, names: readonly (keyof Clock)[]) {
  const clock = clockOf(tx, realm);
  return clock ? rowsOf(Object.fromEntries(names.map((name) => [name, clock[name]]))) : rowsOf();
}

function realmRows(tx: Transaction, afterAt: number) {
  return [...tx.rows(clockTable)]
    .map(([realm, clock]) => ({ realm, clock: clock as unknown as Clock }))
    .filter(({ clock }) => clock.lastAt > afterAt)
    .map(({ realm, clock: { number, mark, epoch } }) => ({ realm_id: Number(realm), number, mark, epoch }));
}
const recentMs = 600_000;

export const realmsOf = (tx: Transaction) => realmRows(tx, Number.NEGATIVE_INFINITY);

/** The key of a service is derived from its name: keys only have to differ. */
const keyOf = (source: string): Buffer => Buffer.from(`key of ${source}`);
const sources = ['users', 'channels', 'messaging', 'presence', 'event_queue'];

function isLost(tx: Transaction, realm: unknown, number: number, mark: unknown): boolean {
  const clock = clockOf(tx, realm);
  if (!clock || number >= clock.number) return clock !== undefined && (number > clock.number || clock.mark !== mark);
  const next = tx.get(eventTable, eventKey(realm, number + 1)) as RecordedEvent | undefined;
  return number >= clock.floor && next !== undefined && next.previousMark !== mark;
}

function newEpoch(tx: Transaction, realm: unknown, beyond: number, seen: number) {
  const clock = clockOf(tx, realm);
  if (clock?.epoch !== seen) return rowsOf({ epoch: null });
  const number = Math.max(clock.number, beyond) + 1_000;
  tx.put(clockTable, String(realm), { ...clock, epoch: seen + 1, number, floor: number });
  return rowsOf({ epoch: seen + 1 });
}

export const logShapes: Shape[] = [
  [/^SELECT log\.append\(/, append],
  [/^SELECT log\.append_many\(/, appendMany],
  [
    /^SELECT log\.pass_gate\(/,
    ({ tx, values: [realm, gate] }) => {
      if (tx.tryLock(`gate ${gate} ${realm}`)) return rowsOf({ pass_gate: '' });
      throw new PostgresError('NT409', `gate ${gate} is held`);
    },
  ],
  [
    /^SELECT pg_advisory_xact_lock(_shared)?\(\?, \?\)/,
    async ({ tx, values: [gate, realm] }, shared) => {
      await tx.lock(`gate ${gate} ${realm}`, shared ? 'shared' : 'exclusive');
      return rowsOf({ [`pg_advisory_xact_lock${shared ?? ''}`]: '' });
    },
  ],
  [
    /^SELECT pg_try_advisory_xact_lock\(\?\) AS is_mine/,
    ({ tx, values: [name] }) => rowsOf({ is_mine: tx.tryLock(`advisory ${name}`) }),
  ],
  [
    /^SELECT log\.check_deadline\(/,
    ({ tx, values: [ms], server }) => {
      if (server.now() > tx.startedAt + Number(ms)) throw new PostgresError('NT408', 'the deadline has passed');
      return rowsOf({ check_deadline: '', ended: server.now() });
    },
  ],
  [
    /^SELECT number, mark, previous_mark, event, at FROM log\.read_some\(/,
    ({ tx, values: [realm, after, limit] }) =>
      rowsOf(...[...readEvents(tx, realm, Number(after))].slice(0, Number(limit)).map(recordRow)),
  ],
  [
    /^SELECT number, mark FROM log\.read\(/,
    ({ tx, values: [realm, after, limit] }) => {
      const events = [...readEvents(tx, realm, Number(after))].slice(0, Number(limit));
      return rowsOf(...events.map(({ number, mark }) => ({ number, mark })));
    },
  ],
  [
    /^SELECT number, mark, epoch, floor FROM log\.position\(/,
    ({ tx, values: [realm] }) => positionRows(tx, realm, ['number', 'mark', 'epoch', 'floor']),
  ],
  [
    /^SELECT number, mark, epoch FROM log\.position\(/,
    ({ tx, values: [realm] }) => positionRows(tx, realm, ['number', 'mark', 'epoch']),
  ],
  [
    /^SELECT number, mark, epoch, log\.dropped\(/,
    ({ tx, values: [, realm] }) => positionRows(tx, realm, ['number', 'mark', 'epoch', 'dropped']),
  ],
  [
    /^SELECT r\.realm_id, r\.number, r\.mark, r\.epoch, n\.realm_id IS NOT NULL AS is_recent FROM log\.realms\(NULL\)/,
    ({ tx, server }) => {
      const recent = new Set(realmRows(tx, server.now() - recentMs).map(({ realm_id }) => realm_id));
      return rowsOf(...realmsOf(tx).map((row) => ({ ...row, is_recent: recent.has(row.realm_id) })));
    },
  ],
  [
    /^SELECT realm_id, number, mark, epoch, true AS is_recent FROM log\.realms\(interval/,
    ({ tx, server }) => rowsOf(...realmRows(tx, server.now() - recentMs).map((row) => ({ ...row, is_recent: true }))),
  ],
  [
    /^SELECT source, key FROM log\.keys\(\)/,
    () => rowsOf(...sources.map((source) => ({ source, key: keyOf(source) }))),
  ],
  [/^SELECT source, key FROM log\.own_key\(\)/, ({ role }) => rowsOf({ source: role, key: keyOf(role) })],
  [
    /^SELECT log\.new_epoch\(/,
    ({ tx, values: [realm, beyond, seen, , number, , mark] }) =>
      isLost(tx, realm, Number(number), mark) ? newEpoch(tx, realm, Number(beyond), Number(seen)) : rowsOf(),
  ],
  [/^SELECT log\.prepare_partitions\(/, () => rowsOf({ prepare_partitions: '' })],
  [/^SELECT name, state FROM log\.expired_partition\(/, () => rowsOf()],
  [/^SELECT c\.relname::text AS name FROM pg_catalog\.pg_inherits /, () => rowsOf()],
  [
    /^SELECT pg_export_snapshot\(\)/,
    ({ tx }) => {
      tx.freeze();
      return rowsOf({ id: '00000003-00000001-1' });
    },
  ],
];
