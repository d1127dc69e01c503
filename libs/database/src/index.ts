/**
 * Access to Postgres, the only record: queries typed by zod, migrations, the unit of work and durable consumers. If a unit of
 * work returns, it is committed. If it throws, it is not committed, with two exceptions: the connection was lost at COMMIT, or
 * the wait for a synchronous standby was cancelled. Then the outcome is unknown, and the caller may retry only with an
 * idempotency key. Handlers may run more than once.
 */
export * from './after-commit.ts';
export * from './batcher.ts';
export * from './claim.ts';
export * from './committer.ts';
export * from './consumer.ts';
export { addCost, withCost } from './cost.ts';
export { Counts } from './counts.ts';
export * from './database.ts';
export * from './deadline.ts';
export type { Answered, Decided } from './decided-writes.ts';
export { bytesPerNumber, createEventRoom, requireEventBytes, requireEventRoom } from './event-room.ts';
export { FairQueue, type Tenant, tenantWithoutAccount } from './fair-queue.ts';
export { createGates, type GateOwner, type Gates, gateOwnerOf } from './gates.ts';
export { deleteInBatches, inBatches } from './in-batches.ts';
export { inTurns } from './in-turns.ts';
export * from './lanes.ts';
export { appliedNumber, eventsAfter } from './later-events.ts';
export { lock, lockFor, lockForEach, tryDatabaseLock, tryLock } from './lock.ts';
export * from './migrate.ts';
export * from './numbered.ts';
export { createPatience } from './patience.ts';
export * from './room.ts';
export * from './server-run.ts';
export { prepareOwnerSession } from './session-settings.ts';
export { shuffled } from './shuffled.ts';
export * from './snapshot.ts';
export * from './sql-state.ts';
export { asTenant } from './turns.ts';
export * from './unit-of-work.ts';
export * from './versions.ts';
export { untilMigrated } from './wait-for-postgres.ts';
export * from './waiting-tasks.ts';
export { wideNetwork } from './wide-network.ts';
export type { Handled, Work } from './work.ts';
