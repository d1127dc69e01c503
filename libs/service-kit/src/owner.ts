import { appenderOfSchema, ChatError, declaredConsumer, type LogEntry, type LogEvent } from '@natter/contracts';
import {
  afterCommit,
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
  type Work,
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
import { apartFromRequest, refuseUnclaimedUnit } from './beside-write.ts';
import { type CatchUp, createCatchUp } from './catch-up.ts';
import type { CommonConfig } from './config.ts';
import { chargedToRealm } from './cost.ts';
import { createEventCheck } from './event-check.ts';
import { forgetAnswers } from './forget-answers.ts';
import { watchOwner } from './owner-metrics.ts';
import { watchRenderer } from './renderer-metrics.ts';
import type { Process } from './run-service.ts';
import { type Stop, stopAll } from './stop-all.ts';

/** Runs a unit of work for a realm, without an actor and without a key. */
export type Background = <R>(realmId: number, handler: (work: Work) => Promise<R>) => Promise<R>;

/** The tools of a service that owns tables. */
export interface Owner {
  database: Database;
  /**
   * A unit of work that no request claims: for timers and for the operator. Writes use `context.write`; in their requests
   * this fails, except within `besideWrite`.
   */
  background: Background;
  appender: Appender;
  redis: LogRedis;
  consume(options: Pick<ConsumerOptions, 'name' | 'on' | 'finish' | 'onMoved' | 'batchSize' | 'gatherMs'>): Consumer;
  /** Brings this service's projections up to date with the commits of the realm. */
  catchUp: CatchUp;
  /** Renders user content to HTML, within limits. Must not be awaited in a transaction. */
  renderer: Renderer;
  /** Stops these parts of the service together with its consumers, then closes what they use. */
  close(...parts: Stop[]): Promise<void>;
}

const recordRow = z.object({
  number: z.number(),
  mark: z.number(),
  previous_mark: z.number(),
  event: z.custom<LogEvent>(),
  at: z.number(),
});

/** Appending so many entries to the log is charged to their realm. Fewer cost little. */
const manyEntries = 50;

/** Size of the entries after which a read of the record ends, in bytes. */
const readBytes = 4 * 1024 * 1024;

/** Entries of the record after a number, in the format of the log: one at least, and fewer than `limit` if they are large. */
export async function readRecord(
  database: Database,
  realmId: number,
  after: number,
  limit: number,
): Promise<LogEntry[]> {
  const rows = await database.any(
    sql.type(recordRow)`
      SELECT number, mark, previous_mark, event, at FROM log.read_some(${realmId}, ${after}, ${limit}, ${readBytes})`,
  );
  return rows.map((row) => ({
    number: row.number,
    n: 0,
    mark: row.mark,
    previousMark: row.previous_mark,
    at: row.at,
    event: row.event,
  }));
}

const keyRow = z.object({ source: z.string(), key: z.instanceof(Buffer) });
/** How long entries stay unsigned after reading the key failed. */
const keyRetryMs = 1_000;

/**
 * The key that the record holds for this service, read once. Undefined while it can't be read: entries are then not
 * signed.
 */
function createSigner(database: Database, onError: (error: unknown) => void): () => Promise<Signer | undefined> {
  let reading: Promise<Signer | undefined> | undefined;
  const read = async (): Promise<Signer | undefined> => {
    try {
      const row = await database.one(sql.type(keyRow)`SELECT source, key FROM log.own_key()`);
      return { source: row.source, key: signingKey(row.key) };
    } catch (error) {
      onError(error);
      setTimeout(() => {
        reading = undefined;
      }, keyRetryMs).unref();
      return undefined;
    }
  };
  return () => {
    reading ??= apartFromRequest(read);
    return reading;
  };
}

/**
 * Opens Postgres under the service's schema and the log in Redis, and connects commits to the log. `fingerprint`
 * identifies requests with a key; a service whose parameters contain secrets passes one that cannot be reversed by
 * guessing. `wrapUnits` changes the units of requests and of the background, but not those of consumers.
 */
export function openOwner(
  process: Process<CommonConfig>,
  schema: string,
  {
    fingerprint = plainFingerprint,
    wrapUnits = (unitOfWork) => unitOfWork,
  }: { fingerprint?: Fingerprint; wrapUnits?: (unitOfWork: UnitOfWork) => UnitOfWork } = {},
): Owner {
  const { config, log, metrics } = process;
  if (!config.NATTER_POSTGRES_URL) throw new Error('Bad configuration: NATTER_POSTGRES_URL is missing');
  const database = createDatabase({
    url: config.NATTER_POSTGRES_URL,
    maxConnections: config.NATTER_POSTGRES_CONNECTIONS,
    name: `natter-${schema}`,
    onError: (error) => log.warn({ err: error }, 'Postgres connection failed'),
  });
  const redis = connectRedis(config.NATTER_REDIS_URL, (state, error) =>
    log.info({ state, err: error }, 'Redis connection'),
  );
  const renderer = createRenderer(watchRenderer(metrics));
  const { owner, consumers } = wireOwner(process, { schema, database, redis, renderer, fingerprint, wrapUnits });
  const stopWatching = watchOwner(metrics, { database, redis, schema, consumers: () => consumers, log });
  return {
    ...owner,
    close: async (...parts) => {
      stopWatching();
      await owner.close(...parts);
    },
  };
}

/** The opened connections of an owner. */
interface Opened extends Pick<Owner, 'database' | 'redis' | 'renderer'> {
  schema: string;
  fingerprint: Fingerprint;
  wrapUnits: (unitOfWork: UnitOfWork) => UnitOfWork;
}

const reportTo =
  ({ log, metrics }: Process<CommonConfig>) =>
  (error: unknown, realm: number): void => {
    metrics.failuresAfterCommit.inc();
    log.error({ err: error, realm }, 'announcing a committed change failed; the sweep will repeat it');
  };

/** Starts the consumers of a service. `awaited`: those that requests wait for. */
function consumersOf(
  { log, bus }: Process<CommonConfig>,
  schema: string,
  database: Database,
  unitOfWork: UnitOfWork,
): { consumers: readonly Consumer[]; awaited: readonly Consumer[]; consume: Owner['consume'] } {
  const consumers: Consumer[] = [];
  const awaited: Consumer[] = [];
  /** Consumers by the name of the consumer that must apply each event before them. */
  const followers = new Map<string, Consumer[]>();
  const service = appenderOfSchema(schema);
  const consume: Owner['consume'] = (options) => {
    const { after, isAwaited } = declaredConsumer(service, options.name, Object.keys(options.on));
    const consumer = startConsumer(database, unitOfWork, {
      ...options,
      after,
      onMoved: (realmId) => {
        options.onMoved?.(realmId);
        for (const follower of followers.get(options.name) ?? []) follower.predecessorMoved(realmId);
      },
      schema,
      charged: chargedToRealm,
      onError: (error, context) => log.warn({ err: error, ...context }, 'consumer failed'),
    });
    consumers.push(consumer);
    if (isAwaited) awaited.push(consumer);
    for (const { name } of after) followers.set(name, [...(followers.get(name) ?? []), consumer]);
    for (const type of consumer.types)
      bus.subscribe(committedSubject(type, '*'), (_, subject) =>
        consumer.hint(Number(subject.slice(subject.lastIndexOf('.') + 1))),
      );
    return consumer;
  };
  return { consumers, awaited, consume };
}

/** Connects commits to the log, and the bus to the answers, projections and gates of the service. */
export function wireOwner(
  process: Process<CommonConfig>,
  { schema, database, redis, renderer, fingerprint, wrapUnits }: Opened,
): { owner: Owner; consumers: readonly Consumer[] } {
  const { config, log, bus, metrics } = process;
  const checkEvent = createEventCheck(metrics, log, config.NATTER_EVENT_CHECK_RATIO);
  const onAppended = afterCommit(({ realmId, entries, operation }) => {
    const append = () => appender.append(realmId, entries);
    const appending = entries.length < manyEntries ? append() : chargedToRealm(realmId, append);
    for (const { event } of entries) checkEvent(event, operation);
    return appending;
  }, reportTo(process));
  // At most a third of the connections, because work that holds a gate needs others.
  const gates = createGates(database, schema, Math.floor((config.NATTER_POSTGRES_CONNECTIONS - 1) / 3));
  const unitOfWork = createUnitOfWork(database, onAppended, gates);
  const appender = createAppender({
    log: redis,
    publish: (subject, payload) => bus.publish(subject, payload),
    readRecord:
      schema === 'event_queue' ? (realmId, after, limit) => readRecord(database, realmId, after, limit) : undefined,
    signer: createSigner(database, (error) =>
      log.warn({ err: error }, 'reading the signing key of this service failed'),
    ),
    commit: (realmId, event) =>
      unitOfWork({ realmId, schema, claim: undefined }, async (work) => void work.emit(event)),
    onConflict: (realmId) => {
      log.error({ realm: realmId }, 'the log in Redis holds another history than the record');
      bus.publish(logConflictSubject, String(realmId));
    },
    onError: (error) => log.debug({ err: error }, 'append to Redis failed; the sweep will repeat it'),
    maxLength: 100_000,
    maxBytes: config.NATTER_LOG_REDIS_MIB * 1024 * 1024,
    secondsToLive: 3_600,
  });
  const { consumers, awaited, consume } = consumersOf(process, schema, database, unitOfWork);
  const stopForgetting = forgetAnswers(database, schema, (error) =>
    log.warn({ err: error }, 'deleting expired stored answers failed'),
  );
  const wrapped = wrapUnits(unitOfWork);
  const commit = createCommitter(
    database,
    schema,
    onAppended,
    () => new ChatError('SERVICE_UNAVAILABLE', 'Too many messages are waiting to be stored'),
  );
  bus.useWrites({
    units: { schema, unitOfWork: wrapped, commit },
    answers: createAnswers(database, schema),
    fingerprint,
  });
  const catchUp = createCatchUp(database, schema, () => awaited);
  bus.useCatchUp(catchUp);
  bus.useGates(gates);
  const owner: Owner = {
    database,
    background: async (realmId, handler) => {
      refuseUnclaimedUnit();
      return wrapped({ realmId, schema, claim: undefined }, handler);
    },
    appender: {
      ...appender,
      appendEphemeral: (realmId, event) => {
        checkEvent(event);
        return appender.appendEphemeral(realmId, event);
      },
    },
    redis,
    catchUp,
    renderer,
    consume,
    close: async (...parts) => {
      await stopAll([...parts, ...consumers.map(({ stop }) => stop), stopForgetting]);
      await renderer.close();
      redis.close();
      await database.close();
    },
  };
  return { owner, consumers };
}
