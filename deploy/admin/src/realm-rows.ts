import { serviceSchemas } from '@natter/database';
import type pg from 'pg';

/** Rows of a realm are found by `realm_id`, or by references to rows that have one. `$1` is the ID of the realm. */
interface Table {
  name: string;
  conditions: string[];
}

/** Tables without rows of realms. The clock and the realm itself are deleted apart, at the beginning and at the end. */
const ofNoRealm = new Set([
  'event_queue.alive',
  'event_queue.outage',
  'log.clock',
  'log.writer',
  'messaging.external_content_secret',
  'users.realm',
]);

/** Rows per statement, each in a transaction of its own. */
const batchSize = 1_000;
const undefinedTable = '42P01';

interface Described {
  name: string;
  has_realm_id: boolean;
}

interface Reference {
  child: string;
  child_column: string;
  parent: string;
  parent_column: string;
}

/**
 * The tables of all services and of the log, those first that refer to others. Read from the catalog, so that a new
 * table is included; a table whose rows cannot be assigned to realms is an error.
 */
export async function tablesOfRealms(client: pg.Client): Promise<Table[]> {
  const schemas = [...serviceSchemas, 'log'];
  const { rows: described } = await client.query<Described>(
    `SELECT format('%I.%I', n.nspname, c.relname) AS name,
      EXISTS (SELECT FROM pg_attribute a WHERE a.attrelid = c.oid AND a.attname = 'realm_id' AND NOT a.attisdropped) AS has_realm_id
    FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
    WHERE n.nspname = ANY($1) AND c.relkind = 'r' ORDER BY 1`,
    [schemas],
  );
  const { rows: references } = await client.query<Reference>(
    `SELECT format('%I.%I', cn.nspname, c.relname) AS child, quote_ident(ca.attname) AS child_column,
      format('%I.%I', pn.nspname, p.relname) AS parent, quote_ident(pa.attname) AS parent_column
    FROM pg_constraint k JOIN pg_class c ON c.oid = k.conrelid JOIN pg_namespace cn ON cn.oid = c.relnamespace
      JOIN pg_class p ON p.oid = k.confrelid JOIN pg_namespace pn ON pn.oid = p.relnamespace
      JOIN pg_attribute ca ON ca.attrelid = c.oid AND ca.attnum = k.conkey[1]
      JOIN pg_attribute pa ON pa.attrelid = p.oid AND pa.attnum = k.confkey[1]
    WHERE k.contype = 'f' AND cn.nspname = ANY($1)`,
    [schemas],
  );
  const withRealm = new Set(described.filter((table) => table.has_realm_id).map(({ name }) => name));
  const tables = described
    .filter(({ name }) => !ofNoRealm.has(name))
    .map(({ name }) => ({ name, conditions: conditionsOf(name, withRealm, references) }));
  return childrenFirst(tables, references);
}

function conditionsOf(name: string, withRealm: ReadonlySet<string>, references: readonly Reference[]): string[] {
  const own = references.filter(({ child }) => child === name);
  // A row goes after the rows of the same table that refer to it.
  const leaf = own
    .filter(({ parent }) => parent === name)
    .map((self) => ` AND NOT EXISTS (SELECT FROM ${name} c WHERE c.${self.child_column} = t.${self.parent_column})`)
    .join('');
  if (withRealm.has(name)) return [`t.realm_id = $1${leaf}`];
  const parents = own.filter(({ parent }) => withRealm.has(parent));
  if (parents.length === 0) throw new Error(`no column of ${name} leads to a realm`);
  return parents.map(
    ({ child_column, parent, parent_column }) =>
      `t.${child_column} IN (SELECT p.${parent_column} FROM ${parent} p WHERE p.realm_id = $1)${leaf}`,
  );
}

function childrenFirst(tables: Table[], references: readonly Reference[]): Table[] {
  const waiting = new Map(tables.map((table) => [table.name, table]));
  const ordered: Table[] = [];
  while (waiting.size > 0) {
    const isReferred = (name: string): boolean =>
      references.some(({ child, parent }) => parent === name && child !== name && waiting.has(child));
    const ready = [...waiting.values()].filter(({ name }) => !isReferred(name));
    if (ready.length === 0) throw new Error(`tables refer to each other: ${[...waiting.keys()].join(', ')}`);
    for (const table of ready) waiting.delete(table.name);
    ordered.push(...ready);
  }
  return ordered;
}

/** Deletes the rows of a realm in batches, and returns their number. */
export async function deleteRows(client: pg.Client, { name, conditions }: Table, realmId: number): Promise<number> {
  let total = 0;
  for (const condition of conditions)
    for (let deleted = 1; deleted > 0; total += deleted)
      deleted = await deleteBatch(
        client,
        `DELETE FROM ${name} WHERE ctid = ANY(ARRAY(SELECT t.ctid FROM ${name} t WHERE ${condition} LIMIT ${batchSize}))`,
        realmId,
      );
  return total;
}

async function deleteBatch(client: pg.Client, statement: string, realmId: number): Promise<number> {
  try {
    return (await client.query(statement, [realmId])).rowCount ?? 0;
  } catch (error) {
    // Retention dropped this partition of the log meanwhile.
    if ((error as { code?: string }).code === undefinedTable) return 0;
    throw error;
  }
}
