import type { System } from '@natter/local/system';
import pg from 'pg';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { request } from '../api.ts';
import { openSystem } from '../open-system.ts';

let system: System;
let admin: pg.Client;
beforeAll(async () => {
  system = await openSystem();
  admin = new pg.Client({ connectionString: system.servers.postgresUrl });
  await admin.connect();
});
afterAll(async () => {
  await admin?.end();
  await system?.stop();
});

const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));
const ask = async (route: string, form: Record<string, unknown> = {}): Promise<number> =>
  (await request(system.url, system.people.owner, route, form)).status;

const reads = ['/users', '/users/me/subscriptions', '/drafts', '/realm/presence', '/users/me'].map(
  (path) => () => ask(`GET ${path}`),
);
const writes = [
  () => ask('POST /messages', { type: 'channel', to: 'general', topic: 'logins', content: 'sent' }),
  () => ask('POST /users/me/status', { status_text: String(Math.random()) }),
  () => ask('POST /drafts', { drafts: [{ type: 'private', to: [], topic: '', content: 'a', timestamp: 1 }] }),
];

/** Sends some of each request at once, again and again until the time is over. Returns how many got each status. */
async function counted(requests: readonly (() => Promise<number>)[], ms: number): Promise<Record<number, number>> {
  const counts: Record<number, number> = {};
  const until = performance.now() + ms;
  const repeat = async (send: () => Promise<number>): Promise<void> => {
    while (performance.now() < until) {
      const status = await send();
      counts[status] = (counts[status] ?? 0) + 1;
      await pause(40 * Math.random());
    }
  };
  await Promise.all(requests.flatMap((send) => Array.from({ length: 6 }, () => repeat(send))));
  return counts;
}

interface Role {
  rolname: string;
  rolpassword: string;
}

/** Changes all roles of services while `work` runs. */
async function whileChanged<R>(changed: string, work: () => Promise<R>): Promise<R> {
  const { rows } = await admin.query<Role>(
    "SELECT rolname, rolpassword FROM pg_authid WHERE rolname LIKE 'natter\\_%' AND rolcanlogin",
  );
  expect(rows.length).toBeGreaterThan(4);
  const change = (of: (role: Role) => string) =>
    admin.query(rows.map((role) => `ALTER ROLE ${role.rolname} ${of(role)}`).join(';'));
  await change(() => changed);
  try {
    return await work();
  } finally {
    await change(({ rolpassword }) => `LOGIN PASSWORD '${rolpassword}'`);
  }
}

test('requests use the connections that exist while passwords are changed', async () => {
  const all = [...reads, ...writes];
  // Each process has a connection, but not as many as many requests at once would use.
  for (const send of all) expect(await send()).toBe(200);
  const counts = await whileChanged("PASSWORD 'another'", () => counted(all, 8_000));
  expect(Object.keys(counts)).toEqual(['200']);
});

test('requests wait while PostgreSQL permits no login, and no connection exists', async () => {
  const counts = await whileChanged('NOLOGIN', async () => {
    await admin.query("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE usename LIKE 'natter\\_%'");
    const counting = counted(reads, 3_000);
    await pause(2_000);
    return { counting };
  });
  expect(Object.keys(await counts.counting)).toEqual(['200']);
});
