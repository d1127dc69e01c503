import { type Bus, connectBus, createLogger, createMetrics } from '@natter/service-kit';
import pg from 'pg';
import { createFloors, type Floors } from '../floors/floors.ts';
import type { FloorWork } from '../floors/work-process.ts';
import type { Address } from '../load/connection.ts';
import type { Job, LoadResult } from '../load/job.ts';
import { type LoadProcess, startLoadProcess } from '../load/load-process.ts';
import { type Api, createApi } from './api.ts';
import { watch } from './measure.ts';
import type { Measurement } from './measurement.ts';
import type { Sizes } from './sizes.ts';
import { createSystemUnderTest, type SystemUnderTest, type Variant } from './system-under-test.ts';

type ClosedJob = Extract<Job, { kind: 'closed' }>;
interface Load {
  name: string;
  unit: string;
  requests: ClosedJob['requests'];
  inFlight?: number;
  /** Ends after this many answers instead of after the usual time, and without a warm-up. */
  count?: number;
  carry?: ClosedJob['carry'];
  address?: Address;
  isFloor?: boolean;
}

/** The tools of a scenario. */
export interface Bench {
  sizes: Sizes;
  directory: string;
  target: SystemUnderTest;
  api: Api;
  floors: Floors;
  /** Sends requests. */
  load: LoadProcess;
  /** Follows queues in a separate process, so that following does not slow down sending. */
  followers: LoadProcess;
  /** Runs the system in another variant than that of `npm start`. */
  use(variant: Variant): Promise<void>;
  operator(): Promise<Bus>;
  /** The database of the system, with the rights of its owner. */
  sql<R extends pg.QueryResultRow>(text: string, values?: unknown[]): Promise<R[]>;
  /** Whether the running system has this operation. */
  has(method: string, path: string): Promise<boolean>;
  /** A closed loop against the system or a floor, after a warm-up. */
  measure(load: Load): Promise<Measurement>;
  measureJob(
    name: string,
    unit: string,
    run: () => Promise<LoadResult>,
  ): Promise<{ measurement: Measurement; result: LoadResult }>;
  floorWork(name: string, unit: string, work: FloorWork): Promise<Measurement>;
  log(line: string): void;
  close(): Promise<void>;
}

export function openBench(options: {
  directory: string;
  sizes: Sizes;
  isFresh: boolean;
  log: (line: string) => void;
}): Bench {
  const { directory, sizes, log } = options;
  const target = createSystemUnderTest(directory, options.isFresh, log);
  const floors = createFloors(directory, (line) => log(`floor: ${line}`));
  const load = startLoadProcess();
  const followers = startLoadProcess();
  let bus: Promise<Bus> | undefined;
  let database: pg.Pool | undefined;
  const disconnect = async (): Promise<void> => {
    await Promise.all([bus?.then((one) => one.drain()), database?.end()]);
    bus = undefined;
    database = undefined;
  };

  return {
    sizes,
    directory,
    target,
    api: createApi(() => target.address),
    floors,
    load,
    followers,
    async use(variant) {
      await disconnect();
      await target.use(variant);
    },
    operator() {
      bus ??= connectBus({
        url: target.system.natsUrl,
        name: 'operator',
        log: createLogger('bench', 'fatal'),
        metrics: createMetrics('bench'),
      });
      return bus;
    },
    async sql(text, values) {
      database ??= new pg.Pool({ connectionString: target.system.servers.postgresUrl, max: 4 });
      return (await database.query(text, values)).rows;
    },
    async has(method, path) {
      const response = await fetch(`${target.system.url}/openapi.json`);
      const { paths } = (await response.json()) as { paths: Record<string, Record<string, unknown>> };
      return paths[path]?.[method.toLowerCase()] !== undefined;
    },
    async measure({ name, unit, requests, inFlight = 64, count, carry, isFloor = false, address = target.address }) {
      const job = { kind: 'closed' as const, address, connections: inFlight, requests, ...(carry ? { carry } : {}) };
      if (count === undefined) await load.run({ ...job, ms: sizes.warmupMs });
      const groups = isFloor ? floors.groups : target.groups;
      const run = () => load.run({ ...job, ...(count === undefined ? { ms: sizes.measureMs } : { count }) });
      return (await watch({ name, unit, groups, isFloor }, run)).measurement;
    },
    measureJob: (name, unit, run) => watch({ name, unit, groups: target.groups }, run),
    async floorWork(name, unit, work) {
      const isOnSystem = work.kind === 'sql' && work.postgresUrl === target.system.servers.postgresUrl;
      const { postgres } = isOnSystem ? target.groups : floors.groups;
      const groups = { ...floors.groups, ...(postgres ? { postgres } : {}) };
      return (await watch({ name, unit, groups, isFloor: true }, () => floors.work(work))).measurement;
    },
    log,
    async close() {
      load.stop();
      followers.stop();
      await disconnect();
      await target.stop();
      await floors.close();
    },
  };
}
