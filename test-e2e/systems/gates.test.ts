import {
  createGates,
  createUnitOfWork,
  type Database,
  type GateOwner,
  serviceUrl,
  sql,
  type Work,
} from '@natter/database';
import type { Servers } from '@natter/local';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { z } from 'zod';
import { ignored, openDatabase, openServers } from '../open-servers.ts';

const realmId = 1;
let servers: Servers;
let owner: Database;
const databases: Database[] = [];

beforeAll(async () => {
  servers = await openServers();
  owner = open(servers.postgresUrl);
  await owner.any(sql.unsafe`SELECT log.create_realm(${realmId})`);
});
afterAll(async () => {
  await Promise.all(databases.map((database) => database.close()));
  await servers?.stop();
});

function open(url: string): Database {
  const database = openDatabase(url, 8);
  databases.push(database);
  return database;
}

/** The tools of one process of a service. */
function processOf(schema: 'users' | 'messaging') {
  const database = open(serviceUrl(servers.postgresUrl, schema, 'secret'));
  const gates = createGates(database, schema, 3);
  const unitOfWork = createUnitOfWork(database, ignored, gates);
  /** A change that queues at the gate. */
  const change = (then: (work: Work) => void = () => undefined) =>
    unitOfWork({ realmId, schema, claim: undefined, isQueued: true }, async (work) => {
      work.bump('group-contents');
      then(work);
    });
  const hold = <R>(owners: GateOwner[], work: () => Promise<R>) => gates.hold(realmId, new Set(owners), work);
  return { change, hold };
}

/** Holds a gate until the returned function is called. */
async function heldBy({ hold }: ReturnType<typeof processOf>, owners: GateOwner[]): Promise<() => Promise<void>> {
  let release: () => void = () => undefined;
  const released = new Promise<void>((resolve) => {
    release = resolve;
  });
  let isHeld: () => void = () => undefined;
  const held = new Promise<void>((resolve) => {
    isHeld = resolve;
  });
  const done = hold(owners, () => {
    isHeld();
    return released;
  });
  await held;
  return () => {
    release();
    return done;
  };
}

async function waiting(count: number): Promise<void> {
  const waits = async (): Promise<number> =>
    (
      await owner.one(sql.type(z.object({ count: z.number() }))`
        SELECT count(*)::int AS count FROM pg_locks WHERE locktype = 'advisory' AND classid = 7401 AND NOT granted`)
    ).count;
  await expect.poll(waits, { interval: 20 }).toBe(count);
}

test('changes that wait for a gate in one process pass before another process holds the gate again', async () => {
  const [users, messaging, other] = [processOf('users'), processOf('messaging'), processOf('messaging')];
  const attempt = async (): Promise<string[]> => {
    const release = await heldBy(messaging, ['users']);
    const order: string[] = [];
    const changes = Array.from({ length: 5 }, () => users.change(() => order.push('change')));
    await waiting(1);
    const held = other.hold(['users'], async () => void order.push('hold'));
    await waiting(2);
    // The turn is as long as the wait.
    await new Promise((resolve) => setTimeout(resolve, 1_000));
    await release();
    await Promise.all([...changes, held]);
    return order;
  };
  // A turn is limited in time, and on a busy machine one change may take longer. Without turns no attempt succeeds.
  const inTurn = [...Array(5).fill('change'), 'hold'].join();
  const orders: string[] = [];
  while (orders.length < 10 && orders.at(-1) !== inTurn) orders.push((await attempt()).join());
  expect(orders.at(-1)).toBe(inTurn);
});

test('a process with endless changes lets other processes hold the gate', async () => {
  const users = processOf('users');
  let isOver = false;
  const endless = Array.from({ length: 4 }, async () => {
    while (!isOver) await users.change();
  });
  await Promise.all(Array.from({ length: 3 }, () => users.change()));
  await processOf('messaging').hold(['users'], async () => undefined);
  await processOf('users').change();
  isOver = true;
  await Promise.all(endless);
});

test('decisions about a channel do not delay changes of users', async () => {
  const release = await heldBy(processOf('messaging'), ['channels']);
  await processOf('users').change();
  await release();
});
