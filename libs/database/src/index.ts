/**
 * Postgres, the only record: queries typed by zod, migrations, the unit of work and durable consumers.
 * A unit of work that returned is committed. One that threw is not, unless the connection was lost at COMMIT: then the
 * outcome is unknown and the caller may only try again with an idempotency key. Handlers may run more than once.
 */
export * from './claim.ts';
export * from './committer.ts';
export type { Connection } from './connection.ts';
export * from './consumer.ts';
export * from './database.ts';
export * from './deadline.ts';
export { FairQueue, type Owner } from './fair-queue.ts';
export { createGates, type Gates } from './gates.ts';
export * from './lanes.ts';
export * from './migrate.ts';
export * from './numbered.ts';
export * from './room.ts';
export * from './snapshot.ts';
export * from './sql-state.ts';
export * from './together.ts';
export { withOwner } from './turns.ts';
export * from './unit-of-work.ts';
