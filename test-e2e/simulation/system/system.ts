import { databaseOn } from '@natter/database';
import type { Bus, Owner, Process } from '@natter/service-kit';
import { plainFingerprint } from '../../../libs/service-kit/src/answer-once.ts';
import { wireOwner } from '../../../libs/service-kit/src/owner.ts';
import { type eventQueueConfig, serveEventQueue } from '../../../services/event-queue/src/service.ts';
import { calm, type Weather } from '../engine/faults.ts';
import { dateAt } from '../engine/globals.ts';
import { createHost, type Host, runOn } from '../engine/hosts.ts';
import type { Scheduler } from '../engine/scheduler.ts';
import { createBroker } from '../servers/broker.ts';
import { createPostgresNetwork } from '../servers/postgres/pool.ts';
import { createPostgresServer } from '../servers/postgres/server.ts';
import { createRedisNetwork } from '../servers/redis/redis-network.ts';
import { createRedisServer } from '../servers/redis/redis-server.ts';
import type { Breakage } from './breakages.ts';
import { type Gateway, openGateway } from './gateway.ts';
import { createCollectingLog } from './log.ts';
import { consumePeople, messagingHandlers, usersHandlers } from './services.ts';

type Kind = 'users' | 'messaging' | 'event-queue' | 'gateway';
type Config = (typeof eventQueueConfig)['_output'];

/** Metrics are not read in a schedule. */
const ignoredRegistry = { registerMetric: () => undefined, contentType: 'text/plain; version=0.0.4; charset=utf-8' };

/** One process of the system, restarted as another host after a crash. */
export interface Running {
  kind: Kind;
  host: Host;
  gateway: Gateway | undefined;
  /** Listeners of callers with a request at this process. */
  onCrash: Set<() => void>;
}

export interface SimulatedSystem {
  readonly running: readonly Running[];
  readonly postgres: ReturnType<typeof createPostgresServer>;
  readonly network: ReturnType<typeof createPostgresNetwork>;
  readonly redis: ReturnType<typeof createRedisServer>;
  readonly redisNetwork: ReturnType<typeof createRedisNetwork>;
  readonly broker: ReturnType<typeof createBroker>;
  weather: Weather;
  /** Error lines of all processes. */
  readonly errors: string[];
  crash(one: Running, downMs: number): void;
}

export interface SystemOptions {
  replicas: Record<Kind, number>;
  breakage: Breakage | undefined;
  onLine: ((line: string) => void) | undefined;
}

export function startSystem(scheduler: Scheduler, { replicas, breakage, onLine }: SystemOptions): SimulatedSystem {
  const trueTime = () => dateAt(scheduler);
  const weather = () => system.weather;
  const timing = { now: trueTime, after: (ms: number, work: () => void) => scheduler.after(ms, undefined, work) };
  const postgres = createPostgresServer(scheduler.random, timing);
  const redis = createRedisServer(trueTime);
  const running: Running[] = [];
  const system: SimulatedSystem = {
    running,
    postgres,
    redis,
    network: createPostgresNetwork(postgres, scheduler, weather),
    redisNetwork: createRedisNetwork(redis, scheduler, weather),
    broker: createBroker(scheduler, weather),
    weather: calm,
    errors: [],
    crash,
  };
  let incarnations = 0;
  for (const kind of Object.keys(replicas) as Kind[]) for (let i = 0; i < replicas[kind]; i++) start(kind);
  return system;

  function start(kind: Kind): void {
    const host = createHost(`${kind}#${++incarnations}`);
    host.clockOffsetMs = scheduler.random.chance(0.3) ? (scheduler.random.next() - 0.5) * 120_000 : 0;
    const one: Running = { kind, host, gateway: undefined, onCrash: new Set() };
    running.push(one);
    runOn(host, () => open(one));
  }

  function open(one: Running): void {
    const { kind, host } = one;
    const log = createCollectingLog(host.name, (line) => system.errors.push(line), onLine);
    const connected = system.broker.connect(host, kind, log);
    const broken = breakage?.units ?? ((units) => units);
    const bus: Bus = {
      ...connected,
      useWrites: ({ units, ...rest }) => connected.useWrites({ ...rest, units: broken(units) }),
    };
    if (kind === 'gateway') {
      one.gateway = openGateway(bus, system.redisNetwork.connect(host), log);
      return;
    }
    const config = {
      NATTER_POSTGRES_CONNECTIONS: 4,
      NATTER_QUEUES_PER_USER: 100,
      NATTER_LOG_RETENTION_HOURS: 72,
      NATTER_EVENT_CHECK_RATIO: 0,
      NATTER_LOG_REDIS_MIB: 64,
    };
    const process = { config, log, bus, metrics: { registry: ignoredRegistry } } as unknown as Process<Config>;
    const owner = ownerOf(process, host, kind.replace('-', '_'));
    if (kind === 'event-queue') void serveEventQueue(process, owner);
    if (kind === 'users') void bus.serve('users', usersHandlers(owner));
    if (kind !== 'messaging') return;
    consumePeople(owner);
    void bus.serve('messaging', messagingHandlers(owner));
  }

  function ownerOf(process: Process<Config>, host: Host, schema: string): Owner {
    const pool = system.network.pool(host, schema);
    const database = databaseOn({ pool, cancel: system.network.cancel }, process.config.NATTER_POSTGRES_CONNECTIONS);
    const { owner } = wireOwner(process, {
      schema,
      database,
      redis: system.redisNetwork.connect(host),
      renderer: undefined as unknown as Owner['renderer'],
      fingerprint: plainFingerprint,
      wrapUnits: (unitOfWork) => unitOfWork,
    });
    return breakage?.owner?.(owner) ?? owner;
  }

  function crash(one: Running, downMs: number): void {
    one.host.hasCrashed = true;
    running.splice(running.indexOf(one), 1);
    system.network.drop(one.host);
    system.broker.drop(one.host);
    for (const tell of one.onCrash) tell();
    scheduler.after(downMs, undefined, () => start(one.kind));
  }
}
