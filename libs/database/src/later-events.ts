import { type Fragment, sql } from './database.ts';

const all = 1_000_000;

/**
 * The events of these types that the log of a realm contains after a number, and up to `through` if it is given, as rows of
 * `number` and `event`.
 */
export const eventsAfter = (
  realmId: number,
  after: number | Fragment,
  types: readonly string[],
  { limit = all, through }: { limit?: number; through?: number | undefined } = {},
): Fragment => sql.fragment`(SELECT r.number, r.event FROM log.position(${realmId}) p,
  log.read_types(${realmId}, ${after}, least(p.number, ${through ?? null}::bigint), ${sql.array([...types], 'text')}, ${limit}) r)`;

/** The number of the last event that a consumer of the service with this schema has applied. */
export const appliedNumber = (schema: string, realmId: number, consumer: string): Fragment =>
  sql.fragment`coalesce((SELECT position FROM ${sql.identifier([schema, 'consumer'])}
    WHERE realm_id = ${realmId} AND name = ${consumer}), 0)`;
