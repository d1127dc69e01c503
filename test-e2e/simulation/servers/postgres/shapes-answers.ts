import type { Call } from './call.ts';
import { PostgresError } from './postgres-error.ts';
import { changed, rowsOf, type Shape } from './shape.ts';
import { numberedRows } from './shapes-log.ts';

/** Tables `idempotency`. */
interface StoredAnswer {
  realmId: number;
  key: string;
  fingerprint: string;
  answer: string;
  createdAt: number;
}
interface NumberedAnswer {
  user_id: number;
  key: string;
  fingerprint: string;
  named: string;
  rest: Record<string, unknown>;
}

const tableOf = (schema: string): string => `${schema}.idempotency`;
const keyOf = (realm: unknown, user: unknown, key: unknown): string => `${realm} ${user} ${key}`;
const taken = (realm: unknown, user: unknown, key: unknown): PostgresError =>
  new PostgresError('23505', 'duplicate key value violates unique constraint "idempotency_pkey"', {
    constraint: 'idempotency_pkey',
    detail: `Key (realm_id, user_id, key)=(${realm}, ${user}, ${key}) already exists.`,
  });

async function insert({ tx, values, server }: Call, schema: string): Promise<boolean> {
  const [realm, user, key, fingerprint, answer] = values;
  const row: StoredAnswer = {
    realmId: Number(realm),
    key: String(key),
    fingerprint: String(fingerprint),
    answer: String(answer),
    createdAt: server.now(),
  };
  return tx.insert(tableOf(schema), keyOf(realm, user, key), { ...row });
}

async function insertNumbered(call: Call, schema: string, numbers: string) {
  const rows = numberedRows<NumberedAnswer>(call, numbers);
  for (const { realm_id, user_id, key, fingerprint, named, rest, number } of rows) {
    const answer = JSON.stringify({ result: { ...rest, [named]: number } });
    if (!(await insert({ ...call, values: [realm_id, user_id, key, fingerprint, answer] }, schema)))
      throw taken(realm_id, user_id, key);
  }
  return changed(rows.length);
}

export const answerShapes: Shape[] = [
  [
    /^INSERT INTO "(\w+)"\."idempotency" \(realm_id, user_id, key, fingerprint, answer\) VALUES .* ON CONFLICT/,
    async (call, schema = '') => changed((await insert(call, schema)) ? 1 : 0),
  ],
  [
    /^INSERT INTO "(\w+)"\."idempotency" \(realm_id, user_id, key, fingerprint, answer\) VALUES /,
    async (call, schema = '') => {
      if (!(await insert(call, schema))) throw taken(call.values[0], call.values[1], call.values[2]);
      return changed(1);
    },
  ],
  [
    /^INSERT INTO "(\w+)"\."idempotency" \(realm_id, user_id, key, fingerprint, answer\) SELECT .* AS number, r\.\* FROM (.*)/,
    (call, schema = '', numbers = '') => insertNumbered(call, schema, numbers),
  ],
  [
    /^SELECT fingerprint, answer, first_number, id_offset, .* FROM "(\w+)"\."idempotency" WHERE/,
    ({ tx, values }, schema = '') => {
      const [realm, user, key] = values.slice(-3);
      const row = tx.get(tableOf(schema), keyOf(realm, user, key)) as StoredAnswer | undefined;
      if (!row) return rowsOf();
      const { fingerprint, answer } = row;
      return rowsOf({ fingerprint, answer: JSON.parse(answer), first_number: null, id_offset: null, is_old: false });
    },
  ],
  // There is no standby, so the message that waits for one has no effect.
  [/^SELECT pg_logical_emit_message/, () => changed(1)],
  // A schedule is shorter than the retention of answers.
  [/^DELETE FROM "(\w+)"\."idempotency" WHERE/, () => changed(0)],
];
