import { appenderOfSchema, ChatError, eventTypesReadBy, type LogEntry, type LogEvent } from '@natter/contracts';
import {
  type Commit,
  type Consumer,
  type ConsumerOptions,
  createAnswers,
  createCommitter,
  createDatabase,
  createGates,
  createUnitOfWork,
  type Database,
  sql,
  startConsumer,
  type UnitOfWork,
} from '@natter/database';
import {
  type Appender,
  committedSubject,
  connectRedis,
  createAppender,
  type LogRedis,
  logConflictSubject,
  type Signer,
  signingKey,
} from '@natter/event-log';
import { createRenderer, type Renderer } from '@natter/renderer';
import { z } from 'zod';
import { type Fingerprint, plainFingerprint } from './answer-once.ts';
import { type CatchUp, createCatchUp } from './catch-up.ts';
import type { CommonConfig } from './config.ts';
import { forgetAnswers } from './forget-answers.ts';
import { watchOwner } from './owner-metrics.ts';
import { watchRenderer } from './renderer-metrics.ts';
import type { Process } from './run-service.ts';

/** What a service that owns tables works with. */
export interface Owner {
  database: Database;
  unitOfWork: UnitOfWork;
  commit: Commit;
  appender: Appender;
  redis: LogRedis;
  consume(options: Pick<ConsumerOptions, 'name' | 'types' | 'handle' | 'finish' | 'batchSize' | 'gatherMs'>): Consumer;
  /** Brings this service's copies up to what is committed in the realm. */
  catchUp: CatchUp;
  /** HTML of what people write, within limits. Never waited for in a transaction. */
  renderer: Renderer;
  close(): Promise<void>;
}

const recordRow = z.object({
  number: z.number(),
  mark: z.number(),
  previous_mark: z.number(),
  event: z.any(),
  at: z.number(),
});

/** Entries of the record after a number, as the log carries them. */
export async function readRecord(
  database: Database,
  realmId: number,
  after: number,
  limit: number,
): Promise<LogEntry[]> {
  const rows = await database.any(
    sql.type(recordRow)`SELECT number, mark, previous_mark, event, at FROM log.read(${realmId}, ${after}, ${limit})`,
  );
  return rows.map((row) => ({
    number: row.number,
    n: 0,
    mark: row.mark,
    previousMark: row.previous_mark,
    at: row.at,
    event: row.event as LogEvent,
  }));
}

export const tick: LogEvent = { type: 'tick', body: {}, audience: { users: { ids: [] } } };

const keyRow = z.object({ source: z.string(), key: z.instanceof(Buffer) });
/** How long entries go unsigned after the key could not be read. */
const keyRetryMs = 1_000;

/** The key that the record keeps for this service, read once. Undefined while it can't be read: entries then go unsigned. */
function createSigner(database: Database, onError: (error: unknown) => void): () => Promise<Signer | undefined> {
  let reading: Promise<Signer | undefined> | undefined;
  const read = async (): Promise<Signer | undefined> => {
    try {
      const row = await database.maybeOne(sql.type(keyRow)`SELECT source, key FROM log.own_key()`);
      return row ? { source: row.source, key: signingKey(row.key) } : undefined;
    } catch (error) {
      onError(error);
      setTimeout(() => {
        reading = undefined;
      }, keyRetryMs).unref();
      return undefined;
    }
  };
  return () => {
    reading ??= read();
    return reading;
  };
}

/**
 * Opens Postgres under the service's schema and the log in Redis, and wires commits to the log. `fingerprint` names requests with a
 * key; a service whose parameters hold secrets gives one that nobody can guess them from.
 */
export function openOwner(
  process: Process<CommonConfig>,
  schema: string,
  fingerprint: Fingerprint = plainFingerprint,
): Owner {
  const { config, log, bus, metrics } = process;
  if (!config.NATTER_POSTGRES_URL) throw new Error('Bad configuration: NATTER_POSTGRES_URL is missing');
  const database = createDatabase({
    url: config.NATTER_POSTGRES_URL,
    maxConnections: config.NATTER_POSTGRES_CONNECTIONS,
    name: `natter-${schema}`,
    onError: (error) => log.warn({ err: error }, 'idle Postgres connection failed'),
  });
  const redis = connectRedis(config.NATTER_REDIS_URL, (state, error) => log.info({ state, err: error }, 'Redis'));
  const stopWatching = watchOwner(metrics, {
    database,
    redis,
    schema,
    consumers: () => consumers,
    log,
  });
  const onAppended = ({ realmId, entries }: { realmId: number; entries: LogEntry[] }): void =>
    void appender.append(realmId, entries);
  // A third of the connections at most, since work that holds a gate needs others.
  const gates = createGates(database, schema, Math.floor((config.NATTER_POSTGRES_CONNECTIONS - 1) / 3));
  const unitOfWork = createUnitOfWork(database, onAppended, gates);
  const appender: Appender = createAppender({
    log: redis,
    publish: (subject, payload) => bus.publish(subject, payload),
    readRecord:
      schema === 'event_queue' ? (realmId, after, limit) => readRecord(database, realmId, after, limit) : undefined,
    signer: createSigner(database, (error) => log.warn({ err: error }, 'the key of this service could not be read')),
    commitTick: (realmId) => unitOfWork({ realmId, schema, claim: undefined }, async (work) => void work.emit(tick)),
    onConflict: (realmId) => {
      log.error({ realm: realmId }, 'the log in Redis holds another history');
      bus.publish(logConflictSubject, String(realmId));
    },
    onError: (error) => log.debug({ err: error }, 'append to Redis failed; the sweep will do it'),
    maxLength: 100_000,
    secondsToLive: 3_600,
  });
  const renderer = createRenderer(watchRenderer(metrics));
  const consumers: Consumer[] = [];
  const readable = new Set<string>(eventTypesReadBy(appenderOfSchema(schema)));
  const stopForgetting = forgetAnswers(database, schema, (error) =>
    log.warn({ err: error }, 'old answers of requests with a key not deleted'),
  );
  bus.useAnswers(createAnswers(database, schema), fingerprint);
  const catchUp = createCatchUp(database, schema, () => consumers);
  bus.useCatchUp(catchUp);
  bus.useGates(gates);
  return {
    database,
    unitOfWork,
    commit: createCommitter(
      database,
      schema,
      onAppended,
      () => new ChatError('SERVICE_UNAVAILABLE', 'Too many messages are waiting to be stored'),
    ),
    appender,
    redis,
    catchUp,
    renderer,
    consume: (options) => {
      const undeclared = options.types.filter((type) => !readable.has(type));
      if (undeclared.length > 0) throw new Error(`${schema} is not declared to read ${undeclared.join(', ')}`);
      const consumer = startConsumer(database, unitOfWork, {
        ...options,
        schema,
        onError: (error, context) => log.warn({ err: error, ...context }, 'consumer failed'),
      });
      consumers.push(consumer);
      for (const type of options.types)
        bus.subscribe(committedSubject(type, '*'), (_, subject) =>
          consumer.hint(Number(subject.slice(subject.lastIndexOf('.') + 1))),
        );
      return consumer;
    },
    close: async () => {
      stopForgetting();
      stopWatching();
      await Promise.all(consumers.map((consumer) => consumer.stop()));
      await renderer.close();
      redis.close();
      await database.close();
    },
  };
}
