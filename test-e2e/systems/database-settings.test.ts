import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { serviceUrl } from '@natter/database';
import { bringServers } from '@natter/local';
import type { System } from '@natter/local/system';
import pg from 'pg';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { request } from '../api.ts';
import { dataDirectory, openSystem } from '../open-system.ts';
import { operatorSettings, runNatter } from '../operator-command.ts';

/** Defaults of the database that change what statements mean, or how values are written. */
const others: Record<string, string> = {
  datestyle: 'SQL, DMY',
  intervalstyle: 'sql_standard',
  timezone: 'Asia/Kolkata',
  extra_float_digits: '-10',
  bytea_output: 'escape',
  array_nulls: 'off',
  standard_conforming_strings: 'off',
  default_transaction_isolation: 'serializable',
};

let system: System;
let settings: Record<string, string>;
let dataDir: string;

/** The database has them before the first migration runs. */
beforeAll(async () => {
  dataDir = await dataDirectory();
  const servers = await bringServers({ dataDir: join(dataDir, 'servers') });
  for (const [name, value] of Object.entries(others))
    await inPostgres(servers.postgresUrl, `ALTER DATABASE natter SET ${name} = '${value}'`);
  await servers.stop();
  system = await openSystem({ dataDir });
  settings = await operatorSettings(system, dataDir);
});
afterAll(() => system?.stop());

async function inPostgres(url: string, text: string): Promise<Record<string, unknown>[]> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    return (await client.query(text)).rows;
  } finally {
    await client.end();
  }
}

const sent = { type: 'channel', to: 'general', topic: 'settings', content: "it\\'s \\ here" };
const requests: [route: string, form: object][] = [
  ['GET /users', {}],
  ['GET /users/me', {}],
  ['POST /register', { event_types: ['message'] }],
  ['POST /messages', sent],
  ['GET /messages', { anchor: 'newest', num_before: 10, num_after: 0 }],
  ['POST /users/me/subscriptions', { subscriptions: [{ name: 'made here' }] }],
  ['GET /users/me/subscriptions', {}],
  ['GET /invites', {}],
  ['GET /drafts', {}],
  ['GET /attachments', {}],
  ['POST /users/me/status', { status_text: "it's \\ here" }],
];

test('requests succeed with other defaults of the database', async () => {
  const answers: unknown[] = [];
  for (const [route, form] of requests) {
    const { status } = await request(system.url, system.people.owner, route, { ...form });
    answers.push([route, status]);
  }
  expect(answers).toEqual(requests.map(([route]) => [route, 200]));
  const { body } = await request(system.url, system.people.owner, 'GET /messages', {
    anchor: 'newest',
    num_before: 10,
    num_after: 0,
    apply_markdown: false,
  });
  expect(body.messages.map(({ content }: { content: string }) => content)).toContain(sent.content);
});

test('sessions of services have none of the defaults', async () => {
  const password = (await readFile(join(dataDir, 'service-password'), 'utf8')).trim();
  const url = serviceUrl(system.servers.postgresUrl, 'users', password);
  const values = Object.keys(others).map((name) => `current_setting('${name}') AS ${name}`);
  expect(await inPostgres(url, `SELECT ${values.join(', ')}`)).toEqual([
    {
      datestyle: 'ISO, MDY',
      intervalstyle: 'postgres',
      timezone: 'UTC',
      extra_float_digits: '1',
      bytea_output: 'hex',
      array_nulls: 'on',
      standard_conforming_strings: 'on',
      default_transaction_isolation: 'read committed',
    },
  ]);
});

test('commands of the operator succeed with other defaults of the database', async () => {
  const host = 'settings.example';
  const made = ['--host', host, '--name', "It\\'s", '--owner-email', `owner@${host}`];
  for (const args of [['realm', 'create', ...made], ['realm', 'list'], ['user', 'list', '--host', host], ['migrate']]) {
    const { code, output } = await runNatter(settings, args);
    expect([args, code, output]).toEqual([args, 0, output]);
  }
});
