import type { System } from '@natter/local/system';
import pg from 'pg';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { request } from '../api.ts';
import { startLoad } from '../chaos/load.ts';
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

/** Ends up to two random backends of services, half of the time only such that are in a statement or transaction. */
async function endBackends(): Promise<{ ended: number; inWork: number }> {
  const { rows } = await admin.query(
    `
    SELECT state, pg_terminate_backend(pid) FROM (
      SELECT pid, state FROM pg_stat_activity
      WHERE usename LIKE 'natter\\_%' AND ($1 OR state <> 'idle') ORDER BY random() LIMIT 2) chosen`,
    [Math.random() < 0.5],
  );
  return { ended: rows.length, inWork: rows.filter(({ state }) => state !== 'idle').length };
}

test('connections that PostgreSQL ends inside operations do not fail, lose or repeat a request', async () => {
  const { owner, administrator, moderator, member, member2 } = system.people;
  const load = await startLoad(system.url, [owner, administrator, moderator, member, member2], 2);
  load.begin();
  await pause(3_000);
  await load.pause();
  load.begin();
  let [ended, inWork] = [0, 0];
  const begun = () => load.figures.reads + load.figures.writes;
  /** In proportion to the load, so that a slow machine does not break every attempt. */
  const untilBegun = async (count: number): Promise<void> => {
    for (const end = Date.now() + 1_000; begun() < count && Date.now() < end; ) await pause(10);
  };
  for (const end = Date.now() + 120_000; (inWork < 30 || begun() < 300) && Date.now() < end; ) {
    await untilBegun(begun() + 4);
    await pause(Math.random() * 100);
    const round = await endBackends();
    ended += round.ended;
    inWork += round.inWork;
  }
  await load.pause();
  const { figures, sent } = load;
  await load.stop();
  console.log(
    `${ended} backends ended, ${inWork} at work; ${figures.reads} reads, ${figures.writes} writes, failed attempts: ${JSON.stringify([...figures.failures])}, longest ${Math.round(figures.longestMs)} ms (${figures.longestWhat})`,
  );
  expect(inWork).toBeGreaterThan(0);
  // Each write was repeated under its key until it was answered.
  expect(figures.problems).toEqual([]);
  expect([...figures.failures.keys()].filter((failure) => failure.startsWith('read'))).toEqual([]);
  for (const [id, { by, content }] of sent) {
    const who = [owner, administrator, moderator, member, member2].find(({ user_id }) => user_id === by) ?? owner;
    const { status, body } = await request(system.url, who, `GET /messages/${id}`, { apply_markdown: false });
    expect([status, body.message?.content]).toEqual(content === undefined ? [400, undefined] : [200, content]);
  }
  const contents: string[] = [];
  for (let anchor = 0; ; ) {
    const { body } = await request(system.url, owner, 'GET /messages', {
      anchor,
      include_anchor: false,
      num_before: 0,
      num_after: 1_000,
      apply_markdown: false,
    });
    for (const message of body.messages) contents.push(message.content.split(' edited ')[0]);
    if (body.found_newest) break;
    anchor = body.messages.at(-1).id;
  }
  const ofLoad = contents.filter((content) => / at \d+$/.test(content));
  expect(ofLoad.length).toBeGreaterThan(0);
  expect(ofLoad.length).toBe(new Set(ofLoad).size);
});
