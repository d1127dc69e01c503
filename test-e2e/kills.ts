import type { System } from '@natter/local/system';
import { request } from './api.ts';
import { type Report, underDisturbance } from './disturbance.ts';

/** mulberry32: the same seed gives the same run. */
export function randomOf(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let t = Math.imul(state ^ (state >>> 15), 1 | state);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) / 2 ** 32;
  };
}

const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

/** SIGKILL to one process of each kind sequentially, at random times. */
export function killEveryService(
  system: System,
  clients: number,
  rounds: number,
  random: () => number,
): Promise<Report> {
  return underDisturbance(system, clients, async (tick) => {
    for (let round = 0; round < rounds; round++) {
      for (const program of [
        'gateway',
        'users',
        'channels',
        'messaging',
        'presence',
        'event-queue',
        'scheduler',
      ] as const) {
        await pause(100 + random() * 400);
        const children = system.children.filter((child) => child.program === program);
        const victim = children[Math.floor(random() * children.length)];
        tick();
        victim?.kill('SIGKILL');
        await pause(800);
      }
    }
  });
}

/** Wipes Redis; kills and restarts Redis, NATS and Postgres. */
export function killEveryServer(system: System, clients: number, random: () => number): Promise<Report> {
  const { servers } = system;
  return underDisturbance(system, clients, async (tick) => {
    for (const server of [servers.redis, servers.nats, servers.postgres]) {
      await pause(200 + random() * 500);
      tick();
      await server.kill('SIGKILL');
      await pause(300);
      await server.start();
      await pause(2_000);
      const answer = await request(system.url, system.people.member, 'GET /users/me').catch(() => undefined);
      if (answer && answer.status >= 500) await pause(1_000);
    }
  });
}
