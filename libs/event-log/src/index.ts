/**
 * The log in Redis: one stream per realm, appended by any process, idempotent by arithmetic, lost without harm.
 * What Redis does not hold is read from Postgres by event-queue; a reader proves completeness with `previousMark`.
 */
export * from './appender.ts';
export * from './keys.ts';
export * from './redis.ts';
export * from './signing.ts';
export * from './stream.ts';
