import { openRealm, type Realm } from '@natter/testkit';
import { Redis } from 'ioredis';
import pg from 'pg';
import { afterAll, beforeAll, expect, inject, test } from 'vitest';
import { untilServed } from '../../patience.ts';
import { expireIn } from '../../queue-model/expire.ts';
import { runSequences } from '../../queue-model/run.ts';

const sequences = Number(process.env.QUEUE_MODEL_SEQUENCES ?? 500);
const seed = Number(process.env.SEED ?? Math.floor(Math.random() * 2 ** 31));
const atOnce = 16;
let realm: Realm;
let postgres: pg.Pool;
let redis: Redis;
beforeAll(async () => {
  realm = await openRealm();
  redis = new Redis(inject('natterRedisUrl'));
  postgres = new pg.Pool({ connectionString: inject('natterPostgresUrl'), max: 4 });
});
afterAll(async () => {
  redis?.disconnect();
  await postgres?.end();
});

test(`queues behave like the model in ${sequences} random sequences of operations (seed ${seed})`, {
  timeout: 900_000,
}, async () => {
  const people = await Promise.all(Array.from({ length: atOnce }, () => realm.person()));
  const outcome = await runSequences({
    sequences,
    seed,
    disturbed: 0,
    followers: people.map((person) => ({
      userId: person.user_id,
      ask: async (method, path, form, headers) => {
        let tries = 0;
        const { body } = await untilServed(() => {
          tries++;
          return person.send(method, path, form, headers);
        });
        return { body, isRepeated: tries > 1 };
      },
    })),
    disturb: {
      expire: (queueId) => expireIn(postgres, redis, queueId),
      kill: async () => undefined,
      wipe: async () => undefined,
    },
  });
  expect(outcome.problems).toEqual([]);
  expect(outcome.ran).toBe(sequences);
});
