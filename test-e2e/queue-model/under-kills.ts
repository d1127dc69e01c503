import type { System } from '@natter/local/system';
import { Redis } from 'ioredis';
import pg from 'pg';
import { request } from '../api.ts';
import { describe } from '../follower.ts';
import { randomOf } from '../kills.ts';
import type { Ask } from './drive.ts';
import { expireIn } from './expire.ts';
import { type Outcome, runSequences } from './run.ts';

export interface DisturbedOutcome extends Outcome {
  /** Requests in flight at each kill and wipe. */
  inFlight: number[];
  /** Requests that were cut off or temporarily refused. All were repeated. */
  askedAgain: number;
}

const victims: readonly string[] = ['gateway', 'event-queue'];
const patienceMs = 120_000;

/**
 * The same sequences in a separate system, whose gateways and event-queues are killed and whose Redis is emptied
 * meanwhile.
 */
export async function runUnderKills(
  system: System,
  options: { sequences: number; seed: number; disturbed: number; atOnce: number; onProgress?: (ran: number) => void },
): Promise<DisturbedOutcome> {
  const random = randomOf(options.seed);
  const redis = new Redis(system.servers.redisUrl);
  const postgres = new pg.Pool({ connectionString: system.servers.postgresUrl, max: 4 });
  const inFlight: number[] = [];
  let running = 0;
  let askedAgain = 0;
  const { owner, administrator, moderator, member, member2 } = system.people;
  const people = [owner, administrator, moderator, member, member2];

  const followers = Array.from({ length: options.atOnce }, (_, index) => {
    const who = people[index % people.length] ?? member;
    const ask: Ask = async (method, path, form, headers) => {
      const deadline = Date.now() + patienceMs;
      for (let isRepeated = false; ; isRepeated = true) {
        running++;
        try {
          const { status, body } = await request(system.url, { ...who, headers }, `${method} ${path}`, form);
          if (status < 500 && status !== 429) return { body, isRepeated };
          if (Date.now() > deadline) return { body, isRepeated };
        } catch (error) {
          if (Date.now() > deadline) return { body: { code: describe(error) } };
        } finally {
          running--;
        }
        askedAgain++;
        await new Promise((resolve) => setTimeout(resolve, 50 + Math.random() * 100));
      }
    };
    return { userId: who.user_id, ask };
  });

  try {
    const outcome = await runSequences({
      ...options,
      followers,
      disturb: {
        expire: (queueId) => expireIn(postgres, redis, queueId),
        kill: async () => {
          const children = system.children.filter((child) => victims.includes(child.program));
          inFlight.push(running);
          children[Math.floor(random() * children.length)]?.kill('SIGKILL');
        },
        wipe: async () => {
          inFlight.push(running);
          await redis.flushall();
        },
      },
    });
    return { ...outcome, inFlight, askedAgain };
  } finally {
    redis.disconnect();
    await postgres.end();
  }
}
