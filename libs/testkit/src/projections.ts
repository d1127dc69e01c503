import { differencesOf, projections } from '@natter/contracts';
import { connected } from './copies.ts';

/** Rows in which the projections of a realm differ from their owners' tables, once all consumers have caught up. */
export async function differingCopies(realmId: number): Promise<string[]> {
  return connected(async (client) => {
    const found: string[] = [];
    for (const projection of projections) {
      const { rows } = await client.query<{ is: string; row: object }>(differencesOf(projection, realmId));
      found.push(...rows.map(({ is, row }) => `${projection.table}: ${is} ${JSON.stringify(row)}`));
    }
    return found;
  });
}

/** Source events of projections that the log of a realm does not contain. */
export async function eventsNotEmitted(realmId: number): Promise<string[]> {
  const { rows } = await connected((client) =>
    client.query<{ name: string }>(
      "SELECT DISTINCT concat_ws('/', event->>'type', event->>'op') AS name FROM log.event WHERE realm_id = $1",
      [realmId],
    ),
  );
  const emitted = new Set(rows.map(({ name }) => name));
  return [...new Set(projections.flatMap(({ events }) => events))].filter((name) => !emitted.has(name));
}

/** Columns of projections that are not declared, and declared names that are not columns. */
export async function undeclaredColumns(): Promise<string[]> {
  return connected(async (client) => {
    const found: string[] = [];
    for (const { table, columns, own = [] } of projections) {
      const [schema, name] = table.split('.');
      const { rows } = await client.query<{ column_name: string }>(
        'SELECT column_name FROM information_schema.columns WHERE table_schema = $1 AND table_name = $2',
        [schema, name],
      );
      const actual = new Set(rows.map(({ column_name }) => column_name));
      const declared = new Set([...Object.keys(columns), ...own]);
      const differing = [...actual, ...declared].filter((column) => !actual.has(column) || !declared.has(column));
      found.push(...differing.map((column) => `${table}.${column}`));
    }
    return found;
  });
}
