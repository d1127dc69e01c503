import type { Call } from './call.ts';
import { changed, rowsOf, type Shape } from './shape.ts';
import { clockOf, readSomeTypes, readTypes, realmsOf, versionOf } from './shapes-log.ts';
import { listOf } from './statement.ts';
import type { Transaction } from './transaction.ts';

/** Tables `consumer` and `parked_event`, and statements that compare positions with the log. */
const tableOf = (schema: string): string => `${schema}.consumer`;
const keyOf = (realm: unknown, name: unknown): string => `${realm} ${name}`;
const positionOf = (tx: Transaction, schema: string, realm: unknown, name: unknown): number | undefined =>
  tx.get(tableOf(schema), keyOf(realm, name))?.position as number | undefined;

function claim({ tx, values }: Call, schema: string) {
  const [realm, name] = values;
  const [types, limit, bytes] = values.slice(-3);
  const key = keyOf(realm, name);
  if (positionOf(tx, schema, realm, name) === undefined || !tx.tryLock(`${tableOf(schema)} ${key}`)) return rowsOf();
  const position = positionOf(tx, schema, realm, name) ?? 0;
  const clock = clockOf(tx, realm);
  if (!clock) return rowsOf();
  const read = { realm, after: position, through: clock.number, types: listOf<string>(types), limit: Number(limit) };
  const { found, isFull } = readSomeTypes(tx, read, Number(bytes));
  const events = found.map(({ number, event }) => ({ number, event: JSON.parse(event) }));
  return rowsOf({ position, number: clock.number, dropped: clock.dropped, events, is_full: isFull });
}

const tryAgeMs = 2_000;

function countTry({ tx, values, server }: Call, schema: string) {
  const [realm, name] = values;
  const types = values.at(-7);
  const [table, key] = [tableOf(schema), keyOf(realm, name)];
  const row = tx.get(table, key);
  const clock = clockOf(tx, realm);
  if (!row || !clock || !tx.tryLock(`${table} ${key}`)) return rowsOf();
  const read = { realm, after: Number(row.position), through: clock.number, types: listOf<string>(types), limit: 1 };
  const [first] = readTypes(tx, read);
  if (!first) return rowsOf();
  const before = row.triedNumber === first.number ? Number(row.tries) : 0;
  const isRecent = before > 0 && server.now() - Number(row.triedAt) < tryAgeMs;
  const tries = isRecent ? before : before + 1;
  tx.put(table, key, { ...row, triedNumber: first.number, triedAt: server.now(), tries });
  return rowsOf({ number: first.number, tries });
}

async function forgetTries({ tx, values: [, realm, name] }: Call, schema: string) {
  const [table, key] = [tableOf(schema), keyOf(realm, name)];
  if (!(Number(tx.get(table, key)?.tries ?? 0) > 0)) return changed(0);
  await tx.lock(`${table} ${key}`);
  tx.put(table, key, { ...tx.get(table, key), tries: 0 });
  return changed(1);
}

function realmsBehind({ tx, values }: Call, schema: string) {
  const [types, , name, realms, throughs] = values.slice(2);
  const looked = new Map(listOf<number>(realms).map((realm, index) => [realm, listOf<number>(throughs)[index] ?? 0]));
  const rows = realmsOf(tx).map(({ realm_id, number }) => {
    const position = positionOf(tx, schema, realm_id, name);
    const after = Math.max(position ?? 0, looked.get(realm_id) ?? 0);
    const read = { realm: realm_id, after, through: number, types: listOf<string>(types), limit: 1 };
    return { realm_id, number, is_new: position === undefined, found: readTypes(tx, read).length > 0, after };
  });
  const behind = rows.filter(({ number, after }) => number > after).map(({ after: _, ...row }) => row);
  return rowsOf({ server: startOfStandIn, behind: behind.length === 0 ? null : behind });
}

function storePositions({ tx, values }: Call, schema: string) {
  const [realms, throughs, name] = values;
  let count = 0;
  for (const [index, realm] of listOf<number>(realms).entries()) {
    const through = Number(listOf<number>(throughs)[index]);
    const key = keyOf(realm, name);
    const position = positionOf(tx, schema, realm, name);
    if (position === undefined || position >= through || !tx.tryLock(`${tableOf(schema)} ${key}`)) continue;
    tx.put(tableOf(schema), key, { ...tx.get(tableOf(schema), key), position: through });
    count++;
  }
  return changed(count);
}

async function raise({ tx, values: [realm, name, position] }: Call, schema: string) {
  const key = keyOf(realm, name);
  await tx.lock(`${tableOf(schema)} ${key}`);
  if ((positionOf(tx, schema, realm, name) ?? -1) >= Number(position)) return changed(0);
  tx.put(tableOf(schema), key, { ...tx.get(tableOf(schema), key), position: Number(position) });
  return changed(1);
}

/** The numbers up to which the caller has read, by consumer. */
interface Looked {
  name: string;
  through: number;
  types: string[];
}

function look({ tx, values }: Call, schema: string) {
  const looks = JSON.parse(String(values[0])) as Looked[];
  const target = values.at(-2);
  const realm = values.at(-1);
  const number = target === null ? (clockOf(tx, realm)?.number ?? 0) : Number(target);
  const behind = looks.filter(({ name, through, types }) => {
    const after = Math.max(through, positionOf(tx, schema, realm, name) ?? 0);
    return readTypes(tx, { realm, after, through: number, types, limit: 1 }).length > 0;
  });
  return rowsOf({ number, behind: behind.map(({ name }) => name) });
}

function versionsOf(tx: Transaction, realm: unknown, keys: string[]): Record<string, number> {
  return Object.fromEntries(keys.map((key) => [key, versionOf(tx, realm, key)]));
}

/** The start of the server. It is constant, because the data survives a restart and cached data of consumers stays valid. */
export const startOfStandIn = 'the stand-in';

export const consumerShapes: Shape[] = [
  [
    /^SELECT extract\(epoch FROM pg_postmaster_start_time\(\)\)::text AS server$/,
    () => rowsOf({ server: startOfStandIn }),
  ],
  [
    /^WITH mine AS \(SELECT position FROM "(\w+)"\."consumer" .* SET tried_number = /,
    (call, schema = '') => countTry(call, schema),
  ],
  [/^UPDATE "(\w+)"\."consumer" SET tries = \? WHERE/, (call, schema = '') => forgetTries(call, schema)],
  [/^WITH mine AS \(SELECT position FROM "(\w+)"\."consumer"/, (call, schema = '') => claim(call, schema)],
  [
    /^WITH mine AS \(SELECT c\.realm_id, k\.through FROM "(\w+)"\./,
    (call, schema = '') => storePositions(call, schema),
  ],
  [
    /^INSERT INTO "(\w+)"\."consumer" \(realm_id, name, position\) VALUES \(\?, \?, \?\) ON CONFLICT DO NOTHING/,
    async ({ tx, values: [realm, name, position] }, schema = '') =>
      changed((await tx.insert(tableOf(schema), keyOf(realm, name), { position: Number(position) })) ? 1 : 0),
  ],
  [/^INSERT INTO "(\w+)"\."consumer" AS c/, (call, schema = '') => raise(call, schema)],
  [
    /^UPDATE "(\w+)"\."consumer" SET position = \?, tries = \? WHERE/,
    async ({ tx, values: [position, , realm, name] }, schema = '') => {
      await tx.lock(`${tableOf(schema)} ${keyOf(realm, name)}`);
      const row = tx.get(tableOf(schema), keyOf(realm, name));
      if (!row) return changed(0);
      tx.put(tableOf(schema), keyOf(realm, name), { ...row, position: Number(position), tries: 0 });
      return changed(1);
    },
  ],
  [
    /^SELECT extract\(epoch FROM pg_postmaster_start_time\(\)\)::text AS server, .* LEFT JOIN "(\w+)"\."consumer" c/,
    (call, schema = '') => realmsBehind(call, schema),
  ],
  [
    /^INSERT INTO "(\w+)"\."parked_event"/,
    ({ tx, values: [realm, name, number, error] }, schema = '') => {
      tx.put(`${schema}.parked_event`, `${realm} ${name} ${number}`, { error: String(error) });
      return changed(1);
    },
  ],
  // No operator re-applies parked events here: a schedule with a parked event has failed.
  [/^SELECT realm_id, number FROM "(\w+)"\."parked_event"/, () => rowsOf()],
  [
    /^SELECT p\.number, EXISTS \(SELECT FROM log\.read_types\(.* AS versions FROM log\.position\(/,
    ({ tx, values: [realm, through, types, , , keys] }) => {
      const number = clockOf(tx, realm)?.number ?? 0;
      const read = { realm, after: Number(through), through: number, types: listOf<string>(types), limit: 1 };
      const found = readTypes(tx, read).length > 0;
      return rowsOf({ number, found, versions: versionsOf(tx, realm, listOf<string>(keys)) });
    },
  ],
  [
    /^SELECT key, version FROM log\.versions\(/,
    ({ tx, values: [realm, keys] }) =>
      rowsOf(...listOf<string>(keys).map((key) => ({ key, version: versionOf(tx, realm, key) }))),
  ],
  [
    /^SELECT p\.number, false AS found, .* AS versions FROM log\.position\(/,
    ({ tx, values: [realm, keys] }) =>
      rowsOf({
        number: clockOf(tx, realm)?.number ?? 0,
        found: false,
        versions: versionsOf(tx, realm, listOf<string>(keys)),
      }),
  ],
  [
    /^SELECT p\.number, ARRAY\(SELECT l\.name .* coalesce\(\(SELECT position FROM "(\w+)"\."consumer"/,
    (call, schema = '') => look(call, schema),
  ],
];
