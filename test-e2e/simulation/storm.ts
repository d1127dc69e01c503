import { weatherOf } from './engine/faults.ts';
import type { Scheduler } from './engine/scheduler.ts';
import { PostgresError } from './servers/postgres/postgres-error.ts';
import type { SimulatedSystem } from './system/system.ts';

interface Fault {
  name: string;
  strike(system: SimulatedSystem, scheduler: Scheduler): void;
}

/** Faults of whole servers and processes; faults of single messages are the weather. */
const faults: Fault[] = [
  {
    name: 'a process crashes',
    strike: (system, { random }) => {
      if (system.running.length > 0) system.crash(random.pick(system.running), 50 + random.next() * 1_000);
    },
  },
  {
    name: 'a process hangs',
    strike: ({ running }, { random, now }) => {
      if (running.length > 0) random.pick(running).host.hangsUntil = now() + random.next() ** 2 * 4_000;
    },
  },
  {
    name: 'a clock jumps',
    strike: ({ running }, { random }) => {
      if (running.length > 0) random.pick(running).host.clockOffsetMs = (random.next() - 0.5) * 7_200_000;
    },
  },
  {
    name: 'PostgreSQL restarts',
    strike: ({ network }, { random }) => network.restart(random.next() * 1_500),
  },
  {
    name: 'PostgreSQL refuses writes',
    strike: ({ postgres }, { random, after }) => {
      postgres.refusal = random.pick([
        new PostgresError('25006', 'cannot execute INSERT in a read-only transaction'),
        new PostgresError('53100', 'could not extend file: No space left on device'),
        new PostgresError('55P03', 'canceling statement due to lock timeout'),
      ]);
      after(random.next() * 4_000, undefined, () => {
        postgres.refusal = undefined;
      });
    },
  },
  {
    name: 'other work holds clocks',
    strike: ({ postgres }, { random, after }) => {
      postgres.clockHeld = 0.5;
      after(random.next() * 4_000, undefined, () => {
        postgres.clockHeld = 0;
      });
    },
  },
  {
    name: 'Redis restarts and is empty',
    strike: ({ redis, redisNetwork }, { random }) =>
      redisNetwork.cut(random.next() * 1_500, () => {
        redis.flush();
        redis.restart();
      }),
  },
  {
    name: 'Redis is emptied',
    strike: ({ redis }) => redis.flush(),
  },
  {
    name: 'Redis restarts with what it had a while before',
    strike: ({ redis, redisNetwork }, { random, after }) => {
      const restore = redis.save();
      after(random.next() * 1_000, undefined, () =>
        redisNetwork.cut(random.next() * 500, () => {
          restore();
          redis.restart();
        }),
      );
    },
  },
  {
    name: 'Redis is cut off',
    strike: ({ redisNetwork }, { random }) => redisNetwork.cut(random.next() * 2_000, () => undefined),
  },
  {
    name: 'Redis is slow',
    strike: ({ redisNetwork }, { random }) =>
      redisNetwork.slow(random.pick([50, 120, 300, 1_000]), random.next() * 3_000),
  },
  {
    name: 'Redis refuses writes',
    strike: ({ redis }, { random, after }) => {
      redis.refusesWrites = true;
      after(random.next() * 2_000, undefined, () => {
        redis.refusesWrites = false;
      });
    },
  },
  {
    name: 'NATS restarts',
    strike: ({ broker }, { random }) => broker.cut(random.next() * 1_500),
  },
];

/** Bad weather and a few faults, for some seconds; then everything recovers. */
export function startStorm(
  system: SimulatedSystem,
  scheduler: Scheduler,
  note: (what: string) => void,
): { isOver(): boolean } {
  const { random, after } = scheduler;
  const lastsMs = 150 + random.next() * 700;
  const count = random.below(4);
  let isOver = false;
  system.weather = weatherOf(random);
  note(`weather ${JSON.stringify(system.weather)}`);
  for (let i = 0; i < count; i++) {
    const fault = random.pick(faults);
    after(random.next() * lastsMs, undefined, () => {
      note(fault.name);
      fault.strike(system, scheduler);
    });
  }
  after(lastsMs, undefined, () => {
    system.weather = { postgres: 0, redis: 0, nats: 0, delay: 0 };
    isOver = true;
    note('the storm is over');
  });
  return { isOver: () => isOver };
}
