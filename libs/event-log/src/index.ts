/**
 * The log in Redis: one stream per realm. Any process may append; appending is idempotent, and losing the stream does
 * no harm. Event-queue reads entries that Redis does not have from Postgres. Readers detect gaps with `previousMark`.
 */
export * from './appender.ts';
export * from './keys.ts';
export { promptly } from './promptly.ts';
export * from './redis.ts';
export * from './signing.ts';
export * from './stream.ts';
