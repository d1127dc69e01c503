import type { Appender } from '../declare.ts';
import type { EventName } from '../index.ts';

/**
 * A table with data of another service. The durable consumer of the service updates it from the events; `columns` and
 * `from` define its content when the consumer has caught up. A test compares each projection with its owner's tables
 * after every event.
 */
export interface Projection {
  service: Appender;
  /** The table of the projection. */
  table: `${string}.${string}`;
  /** The durable consumer of the service that updates it. */
  consumer: string;
  events: readonly EventName[];
  /** Columns of the projection, each as SQL over the owner's rows. */
  columns: Readonly<Record<string, string>>;
  /** The owner's rows, as SQL after FROM. */
  from: string;
  /** Selects the current rows of the projection, if it also stores former ones. */
  current?: string;
  /** Columns that the service computes itself. */
  own?: readonly string[];
}

/** Rows of a realm that exist only in the projection (`extra`), or only at the owner (`missing`). */
export function differencesOf({ table, columns, from, current }: Projection, realmId: number): string {
  const names = Object.keys(columns);
  const projected = `SELECT ${names.join(', ')} FROM ${table}${current ? ` WHERE ${current}` : ''}`;
  const owned = `SELECT ${names.map((name) => `${columns[name]} AS ${name}`).join(', ')} FROM ${from}`;
  const side = (is: string, one: string, other: string): string =>
    `SELECT '${is}' AS is, to_jsonb(x) AS row FROM ((${one}) EXCEPT (${other})) x WHERE x.realm_id = ${realmId}`;
  return `${side('extra', projected, owned)} UNION ALL ${side('missing', owned, projected)}`;
}
