import type { System } from '@natter/local/system';
import pg from 'pg';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Answer, request } from '../api.ts';
import { dataDirectory, openSystem } from '../open-system.ts';
import { operatorSettings, runNatter } from '../operator-command.ts';

let system: System;
let settings: Record<string, string>;
let admin: pg.Client;
beforeAll(async () => {
  const dataDir = await dataDirectory();
  system = await openSystem({ dataDir, gateways: 1 });
  settings = await operatorSettings(system, dataDir);
  admin = new pg.Client(system.servers.postgresUrl);
  await admin.connect();
});
afterAll(async () => {
  await admin?.end();
  await system?.stop();
});

const ask = async (method: string, path: string, form: Answer): Promise<Answer> => {
  const { status, body } = await request(system.url, system.people.owner, `${method} ${path}`, form);
  expect([status, body.msg]).toEqual([200, body.msg]);
  return body;
};
const send = async (content: string): Promise<number> =>
  (await ask('POST', '/messages', { type: 'channel', to: 'general', topic: 'search', content })).id;
const found = async (search: string): Promise<number[]> => {
  const form = { anchor: 'newest', num_before: 100, num_after: 0, narrow: [['search', search]] };
  return (await ask('GET', '/messages', form)).messages.map((message: Answer) => message.id);
};
const language = async (...args: string[]): Promise<Answer> => {
  const { code, output, printed } = await runNatter(settings, [
    ...['realm', 'search-language', '--host', 'default', '--json', ...args],
  ]);
  expect([code, output]).toEqual([0, output]);
  return JSON.parse(printed);
};
const untilIndexed = () => expect.poll(async () => (await language()).is_complete, { interval: 500 }).toBe(true);

/** A transaction with a row lock: messages are not indexed again before it ends. */
async function withHeldMessage(id: number, work: () => Promise<void>): Promise<void> {
  const other = new pg.Client(system.servers.postgresUrl);
  await other.connect();
  try {
    await other.query('BEGIN');
    await other.query('SELECT FROM messaging.message WHERE id = $1 FOR UPDATE', [id]);
    await work();
    await other.query('ROLLBACK');
  } finally {
    await other.end();
  }
}

test('messages of the previous release are found before and after they are indexed again', async () => {
  const id = await send('Read app.log in the Café of deployments');
  await admin.query('ALTER TABLE messaging.message DISABLE TRIGGER index_message');
  await admin.query(
    "UPDATE messaging.message SET search = to_tsvector('english', topic || ' ' || content) WHERE id = $1",
    [id],
  );
  await admin.query('ALTER TABLE messaging.message ENABLE TRIGGER index_message');
  expect([await found('café'), await found('deploying'), await found('log')]).toEqual([[], [id], []]);
  await withHeldMessage(id, async () => {
    await admin.query(
      `INSERT INTO messaging.search_index (realm_id, language, below, has_earlier)
      SELECT realm_id, 'english', 9223372036854775807, true FROM messaging.message WHERE id = $1`,
      [id],
    );
    expect([await found('café'), await found('deploying'), await found('app.log')]).toEqual([[id], [id], [id]]);
    const later = await send('A new café');
    expect(await found('cafe')).toEqual([later]);
    expect(await found('café')).toEqual([id, later]);
  });
  await untilIndexed();
  expect([await found('cafe'), await found('log'), await found('deploying')]).toMatchObject([
    { length: 2 },
    [id],
    [id],
  ]);
});

test('a new search language applies at once, and the former one until all messages are indexed', async () => {
  const early = await send('Die Häuser brauchen neue walls, they were walking');
  expect(await found('Haus')).toEqual([]);
  expect(await found('walked')).toEqual([early]);
  let late = 0;
  await withHeldMessage(early, async () => {
    expect(await language('--language', 'german')).toMatchObject({ language: 'german', is_complete: false });
    late = await send('Viele Häuser');
    expect(await found('Haus')).toEqual([late]);
    expect(await found('walked')).toEqual([early]);
    expect(await found('Häuser')).toEqual([early, late]);
  });
  await untilIndexed();
  expect(await language()).toMatchObject({ language: 'german', is_complete: true });
  expect(await found('Haus')).toEqual([early, late]);
  expect(await found('neu')).toEqual([early]);
  await ask('PATCH', `/messages/${late}`, { content: 'Viele Gärten' });
  expect([await found('Haus'), await found('Garten')]).toEqual([[early], [late]]);
});

test('an unknown search language and an unknown host are rejected', async () => {
  const run = (...args: string[]) => runNatter(settings, ['realm', 'search-language', ...args]);
  const refused = await run('--host', 'default', '--language', 'klingon');
  expect([refused.code, refused.output]).toEqual([2, expect.stringContaining('klingon is not one of')]);
  expect((await run('--host', 'nowhere.example', '--language', 'german')).code).toBe(1);
});
