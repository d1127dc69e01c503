import { join } from 'node:path';
import { bringServers, type Servers } from '@natter/local';
import { freePort } from '@natter/local/port';
import { openSharedPort } from '@natter/local/shared-port';
import type { ProcessGroups } from '../../measure/processes.ts';
import type { Address } from '../load/connection.ts';
import type { LoadResult } from '../load/job.ts';
import { type FloorProcess, type FloorProgram, startFloorProcess } from './child-process.ts';
import type { HttpFloor } from './http-process.ts';
import type { FloorWork } from './work-process.ts';
import type { WriterFloor } from './writer-process.ts';

/**
 * Measures programs with almost no code on the same machine, for comparison. They use a separate Postgres, Redis and NATS,
 * with the same durability settings as the system's, so that they do not affect the system.
 */
export interface Floors {
  groups: ProcessGroups;
  servers(): Promise<Servers>;
  work(work: FloorWork): Promise<LoadResult>;
  /** Bare HTTP servers on one port. */
  http(mode: HttpFloor['mode'], processes: number): Promise<HttpFloorProcesses>;
  writer(options: Pick<WriterFloor, 'event' | 'delivers'>): Promise<FloorProcess>;
  /** Ends the processes of a scenario; the servers stay. */
  clear(): Promise<void>;
  close(): Promise<void>;
}

interface HttpFloorProcesses {
  address: Address;
  processes: FloorProcess[];
}

export function createFloors(directory: string, log: (line: string) => void): Floors {
  let servers: Promise<Servers> | undefined;
  let started: Servers | undefined;
  const running: { program: FloorProgram; process: FloorProcess }[] = [];

  const bring = (): Promise<Servers> => {
    servers ??= bringServers({ dataDir: join(directory, 'floor-servers'), log });
    return servers.then((all) => {
      started = all;
      return all;
    });
  };
  const start = async (program: FloorProgram, options: object, fd?: number): Promise<FloorProcess> => {
    const process = await startFloorProcess(program, options, fd);
    running.push({ program, process });
    return process;
  };
  const pidsOf = (program: FloorProgram) => (): number[] =>
    running.filter((one) => one.program === program).map((one) => one.process.pid);
  const pidOf = (name: 'postgres' | 'redis' | 'nats') => (): number[] => {
    const pid = started?.[name].pid;
    return pid === undefined ? [] : [pid];
  };
  const clear = async (): Promise<void> => {
    await Promise.all(running.splice(0).map((one) => one.process.stop()));
  };
  return {
    groups: {
      http: pidsOf('http'),
      writer: pidsOf('writer'),
      work: pidsOf('work'),
      postgres: pidOf('postgres'),
      redis: pidOf('redis'),
      nats: pidOf('nats'),
    },
    servers: bring,
    work: async (work) => {
      const worker = running.find((one) => one.program === 'work')?.process ?? (await start('work', {}));
      return worker.ask<LoadResult>(work);
    },
    http: async (mode, processes) => {
      const { natsUrl } = await bring();
      const port = await freePort();
      const shared = await openSharedPort('127.0.0.1', port);
      const options: HttpFloor = { mode, natsUrl };
      const all = await Promise.all(Array.from({ length: processes }, () => start('http', options, shared.fd)));
      shared.close();
      return { address: { host: '127.0.0.1', port }, processes: all };
    },
    writer: async (options) => {
      const { natsUrl, postgresUrl, redisUrl } = await bring();
      return start('writer', { natsUrl, postgresUrl, redisUrl, ...options } satisfies WriterFloor);
    },
    clear,
    close: async () => {
      await clear();
      if (servers) await (await servers).stop();
    },
  };
}
