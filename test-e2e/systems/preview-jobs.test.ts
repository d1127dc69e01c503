/** The order and the attempts of jobs that preview linked pages. */
import { type Database, sql } from '@natter/database';
import type { Servers } from '@natter/local';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { postponeJob, takeJobs } from '../../services/messaging/src/link-previews/jobs.ts';
import { openDatabase, openServers } from '../open-servers.ts';

const realmId = 7;
let servers: Servers;
let database: Database;
beforeAll(async () => {
  servers = await openServers();
  database = openDatabase(servers.postgresUrl, 2);
});
afterAll(async () => {
  await database?.close();
  await servers?.stop();
});
beforeEach(() => database.run(sql.unsafe`DELETE FROM messaging.link_preview_job`));

const add = (messageId: number) =>
  database.run(sql.unsafe`
    INSERT INTO messaging.link_preview_job (realm_id, message_id, content_hash, urls)
    VALUES (${realmId}, ${messageId}, 'x', '{}')`);
const take = async () => (await takeJobs(database, { limit: 8, perRealm: 1, running: [] }))[0];
/** Lets the pause of all postponed jobs pass. */
const pass = () =>
  database.run(sql.unsafe`
    UPDATE messaging.link_preview_job SET taken_until = taken_until - interval '1 hour' WHERE taken_until > '-infinity'`);

test('new jobs of a realm are taken before jobs that were postponed', async () => {
  for (const messageId of [1, 2]) {
    await add(messageId);
    const job = await take();
    if (job) await postponeJob(database, job, false);
  }
  await pass();
  for (const messageId of [3, 4]) await add(messageId);
  const order: (number | undefined)[] = [];
  for (let count = 0; count < 5; count++) order.push((await take())?.message_id);
  expect(order.slice(0, 2)).toEqual([3, 4]);
  expect(order.slice(2).toSorted()).toEqual([1, 2, undefined]);
});

test('a job that is postponed is over after three attempts, and never if they do not count', async () => {
  await add(1);
  const rounds = async (isAttempt: boolean): Promise<(boolean | undefined)[]> => {
    const areOver: (boolean | undefined)[] = [];
    for (let count = 0; count < 4; count++) {
      const job = await take();
      areOver.push(job?.is_over);
      if (job) await postponeJob(database, job, isAttempt);
      await pass();
    }
    return areOver;
  };
  expect(await rounds(false)).toEqual([false, false, false, false]);
  expect(await rounds(true)).toEqual([false, false, false, true]);
});
