import { createRandom } from '../random.ts';
import { isConsumed, isDelivered } from './checks/expected.ts';
import { violations } from './checks/invariants.ts';
import { takeOverGlobals } from './engine/globals.ts';
import { createScheduler } from './engine/scheduler.ts';
import { clockTable, newClock } from './servers/postgres/shapes-log.ts';
import { accountTable } from './servers/postgres/shapes-services.ts';
import { startStorm } from './storm.ts';
import type { Breakage } from './system/breakages.ts';
import { type Clients, change, follow, type Seen, send, type } from './system/clients.ts';
import { type SimulatedSystem, startSystem } from './system/system.ts';

export interface ScheduleOptions {
  breakage?: Breakage | undefined;
  /** Called with every log line of a process, and every fault. */
  onLine?: ((line: string) => void) | undefined;
  /** Called before anything runs. */
  onStart?: ((system: SimulatedSystem) => void) | undefined;
  /** No faults. */
  isCalm?: boolean;
}

export interface Outcome {
  seed: number;
  violations: string[];
  /** Number of executed tasks, and a digest of their times: equal for equal schedules. */
  steps: number;
  digest: number;
  simulatedMs: number;
  events: number;
  delivered: number;
}

/** After the storm all deliveries must complete within this time. Simulated milliseconds. */
const settleMs = 60_000;
/** Duplicate deliveries or effects would arrive within this time. */
const lingerMs = 250;
/** After this long without a fault, the next message must be delivered within `promptMs`. */
const healMs = 6_000;
const promptMs = 1_000;
const slow = `a message after the storm was not delivered within ${promptMs} ms`;
const maxSteps = 400_000;

/** Runs the schedule of a seed: clients write and follow through a storm; then the system settles and is checked. */
export async function runSchedule(seed: number, options: ScheduleOptions = {}): Promise<Outcome> {
  const random = createRandom(seed);
  const scheduler = createScheduler(random);
  const giveBack = takeOverGlobals(scheduler);
  try {
    const replicas = {
      users: 1,
      messaging: random.chance(0.4) ? 2 : 1,
      'event-queue': random.chance(0.4) ? 2 : 1,
      gateway: random.chance(0.4) ? 2 : 1,
    };
    const note = (what: string): void => options.onLine?.(`${scheduler.now().toFixed(1)} ${what}`);
    const onLine = options.onLine && note;
    const system = startSystem(scheduler, { replicas, breakage: options.breakage, onLine });
    options.onStart?.(system);
    const seen: Seen = { sent: [], changed: [], followers: [], pending: 0, violations: [] };
    const clients = { scheduler, system, seen };
    const load = startLoad(clients);
    const storm = options.isCalm ? { isOver: () => true } : startStorm(system, scheduler, note);
    const isSettled = (): boolean =>
      scheduler.steps > maxSteps ||
      (storm.isOver() && load.isOver() && seen.pending === 0 && isDelivered(system, seen) && isConsumed(system));
    // Checked only now and then, because it reads everything.
    await scheduler.run(() => scheduler.steps % 16 === 0 && isSettled(), settleMs);
    const isLate = !isSettled() || scheduler.steps > maxSteps;
    const isSlow = !isLate && random.chance(0.05) && !(await isPrompt(clients, isSettled));
    const end = scheduler.now() + lingerMs;
    await scheduler.run(() => scheduler.now() > end, end);
    await scheduler.run(() => system.postgres.locksHeld === 0, end + settleMs);
    const late = `not settled after ${scheduler.now()} ms, ${seen.pending} requests are not answered`;
    return {
      seed,
      violations: [...(isLate ? [late] : []), ...(isSlow ? [slow] : []), ...violations(system, seen)],
      steps: scheduler.steps,
      digest: scheduler.digest,
      simulatedMs: scheduler.now(),
      events: system.postgres.store.table('log.event').size,
      delivered: seen.followers.reduce((sum, { events }) => sum + events.length, 0),
    };
  } finally {
    giveBack();
  }
}

/** Whether a message is delivered promptly after a while without faults. */
async function isPrompt(clients: Clients, isSettled: () => boolean): Promise<boolean> {
  const { scheduler } = clients;
  const healthyAt = scheduler.now() + healMs;
  await scheduler.run(() => scheduler.now() > healthyAt, healthyAt);
  void send(clients, { realmId: 1, userId: 7 }, 'after the storm');
  const end = scheduler.now() + promptMs;
  await scheduler.run(() => scheduler.steps % 16 === 0 && isSettled(), end);
  return isSettled();
}

/** Starts realms, followers and writers, in numbers that the seed decides; most schedules are small. */
function startLoad(clients: Clients): { isOver(): boolean } {
  const { scheduler, system } = clients;
  const { random } = scheduler;
  const size = random.chance(0.15) ? 4 : 2;
  const realms = random.pick([[1], [1], [1, 2], [1, 2, 3, 4, 5]]);
  let running = 0;
  const start = (work: Promise<void>): void => {
    running++;
    void work.finally(() => running--);
  };
  for (const realmId of realms) {
    system.postgres.store.table(clockTable).set(String(realmId), { ...newClock() });
    for (const userId of [7, 8]) system.postgres.store.table(accountTable).set(`${realmId} ${userId}`, { changes: 0 });
  }
  const caller = () => ({ realmId: random.pick(realms), userId: random.pick([7, 8]) });
  const spread = (): Promise<void> => scheduler.pause(random.next() ** 2 * 600);
  for (let i = 0; i < size / 2; i++) {
    const who = caller();
    start(spread().then(() => void follow(clients, who, `follower ${i}`)));
  }
  for (let i = 0; i < 1 + random.below(size); i++) start(writeSome(`writer${i}`));
  return { isOver: () => running === 0 };

  async function writeSome(name: string): Promise<void> {
    const who = caller();
    for (let k = 0; k < 1 + random.below(size); k++) {
      await spread();
      const kind = random.next();
      // Sends of several realms begin at once, so that one transaction commits them.
      const others = random.chance(0.6) ? realms.filter((realmId) => realmId !== who.realmId) : [];
      for (const realmId of others)
        for (const one of ['a', 'b']) start(send(clients, { ...who, realmId }, `${name}.${k}${one} of ${realmId}`));
      const to = random.chance(0.2) ? `to${random.pick([7, 8])}:` : '';
      if (kind < 0.5) await send(clients, who, `${to}${name}.${k}`);
      else if (kind < 0.9) await change(clients, { ...caller(), realmId: who.realmId }, `${name}.${k}`);
      else await type(clients, who, `${name}.${k}`);
    }
  }
}
