/** The order and the attempts of jobs that preview linked pages, and how many pages are fetched. */
import { type Database, sql, VersionsChanged } from '@natter/database';
import type { Servers } from '@natter/local';
import { createLogger } from '@natter/service-kit';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { postponeJob, takeJobs } from '../../services/messaging/src/link-previews/jobs.ts';
import { fetchesLeft, storePage } from '../../services/messaging/src/link-previews/page-cache.ts';
import { startPreviewWorker } from '../../services/messaging/src/link-previews/preview-worker.ts';
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

const add = (messageId: number, causedBy = 1) =>
  database.run(sql.unsafe`
    INSERT INTO messaging.link_preview_job (realm_id, message_id, content_hash, urls, caused_by)
    VALUES (${realmId}, ${messageId}, 'x', '{}', ${causedBy})`);
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

test('people of a realm take turns, however many jobs one of them has', async () => {
  for (let messageId = 1; messageId <= 60; messageId++) await add(messageId, 1);
  for (const person of [2, 3]) await add(60 + person, person);
  const order: (number | undefined)[] = [];
  for (let count = 0; count < 62; count++) order.push((await take())?.message_id);
  for (const id of [62, 63]) expect(order.indexOf(id)).toBeLessThan(40);
  // The jobs of one person are taken in their order.
  expect(order.filter((id = 0) => id <= 60)).toEqual(Array.from({ length: 60 }, (_, index) => index + 1));
});

test('a round takes as many jobs of a realm as may run beside those that do, each of another person', async () => {
  for (const person of [1, 2, 3, 4]) for (const job of [1, 2]) await add(10 * person + job, person);
  const taken = async (running: number[]) => {
    const jobs = await takeJobs(database, { limit: 8, perRealm: 3, running });
    return new Set(jobs.map(({ message_id }) => Math.floor(message_id / 10))).size;
  };
  expect([await taken([realmId, 5]), await taken([realmId, realmId, realmId]), await taken([])]).toEqual([2, 0, 3]);
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

test('one person and their bots cause an eighth of the pages that a realm may fetch in an hour', async () => {
  const [person, bot, other, orphan] = [1, 2, 3, 4];
  await database.run(sql.unsafe`
    INSERT INTO messaging.standing (realm_id, user_id, role, bot_owner_id)
    VALUES (${realmId}, ${person}, 400, NULL), (${realmId}, ${bot}, 400, ${person}), (${realmId}, ${other}, 400, NULL)`);
  // The id of each message is that of its sender.
  for (const sender of [person, bot, other, orphan])
    await database.run(sql.unsafe`
      INSERT INTO messaging.message (realm_id, id, sender_id, recipient_ids, content, rendered_content, client, sent_at)
      VALUES (${realmId}, ${sender}, ${sender}, ARRAY[${sender}::int], '', '', 'x', now())`);
  const leftFor = (message_id: number) => fetchesLeft(database, { realm_id: realmId, message_id });
  const fetched = async (causedBy: number, count: number) => {
    for (let i = 0; i < count; i++)
      await storePage(database, { realmId, causedBy, url: `https://${causedBy}.example/${i}`, page: undefined });
  };
  expect(await leftFor(bot)).toEqual({ causedBy: person, left: 125 });
  await fetched(person, 130);
  for (const message of [person, bot]) expect(await leftFor(message)).toEqual({ causedBy: person, left: 0 });
  for (const message of [other, orphan]) expect(await leftFor(message)).toEqual({ causedBy: message, left: 125 });
  // Pages that processes of the previous release fetched count for the realm alone.
  await database.run(sql.unsafe`UPDATE messaging.link_preview SET caused_by = NULL WHERE realm_id = ${realmId}`);
  expect(await leftFor(person)).toEqual({ causedBy: person, left: 125 });
  for (let by = 10; by < 17; by++) await fetched(by, 120);
  expect(await leftFor(person)).toEqual({ causedBy: person, left: 30 });
  expect(await leftFor(5)).toEqual({ causedBy: 0, left: 0 });
  await database.run(sql.unsafe`
    UPDATE messaging.link_preview SET fetched_at = fetched_at - interval '1 hour' WHERE realm_id = ${realmId}`);
  expect(await leftFor(person)).toEqual({ causedBy: person, left: 125 });
});

test('a job whose previews cannot be added while a projection is outdated is postponed, which is no attempt', async () => {
  const [url, messageId] = ['http://late.example/', 100];
  const page = { title: 'Late', description: undefined, image: 'http://late.example/picture' };
  await storePage(database, { realmId, causedBy: 1, url, page });
  await database.run(sql.unsafe`
    INSERT INTO messaging.message (realm_id, id, sender_id, recipient_ids, content, rendered_content, client, sent_at)
    VALUES (${realmId}, ${messageId}, 1, '{1}', ${url}, '', 'x', now())`);
  await database.run(sql.unsafe`
    INSERT INTO messaging.link_preview_job (realm_id, message_id, content_hash, urls, caused_by)
    VALUES (${realmId}, ${messageId}, sha256(convert_to(${url}, 'UTF8')), ARRAY[${url}], 1)`);
  let tries = 0;
  const sources = {
    database,
    catchUp: async () => undefined,
    policies: { get: async () => ({ settings: { inline_url_embed_preview: true } }) },
    background: async () => {
      tries++;
      throw new VersionsChanged('subscribers of channel 1', 'row');
    },
  } as unknown as Parameters<typeof startPreviewWorker>[0];
  const process = { config: { NATTER_EXTERNAL_CONTENT_NETWORKS: '' }, log: createLogger('test', 'fatal') };
  const worker = startPreviewWorker(sources, process as Parameters<typeof startPreviewWorker>[1]);
  const postponed = () =>
    database.any(sql.unsafe`
      SELECT FROM messaging.link_preview_job WHERE message_id = ${messageId} AND attempts = 0 AND taken_until > created_at`);
  try {
    await expect.poll(async () => (await postponed()).length).toBe(1);
  } finally {
    await worker.stop();
  }
  expect(tries).toBeGreaterThan(1);
});
