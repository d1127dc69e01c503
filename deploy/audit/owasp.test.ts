import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';

const root = join(import.meta.dirname, '../..');
const table = readFileSync(join(root, 'docs/security/owasp-api-top-ten.md'), 'utf8');
const rows = table.split('\n').filter((line) => /^\| API\d+ /.test(line));

test('every risk of the OWASP API top ten has a test', () => {
  expect(rows.map((row) => /API(\d+)/.exec(row)?.[1])).toEqual(['1', '2', '3', '4', '5', '6', '7', '8', '9', '10']);
  for (const row of rows) expect(row).toMatch(/`[\w/.-]+`: "/);
});

test('every test that the table names exists under its title', () => {
  const named = [...table.matchAll(/`([\w/.-]+\.ts)`: "([^"]+)"/g)];
  expect(named.length).toBeGreaterThan(20);
  for (const [, file = '', title = ''] of named) expect(readFileSync(join(root, file), 'utf8'), file).toContain(title);
});

/** Files of services and libraries that open connections, and to what. Written by hand. */
const connecting: Readonly<Record<string, 'configured servers' | 'addresses of users'>> = {
  'libs/database/src/connection.ts': 'configured servers',
  'libs/database/src/database.ts': 'configured servers',
  'libs/database/src/lost-statements.ts': 'configured servers',
  'libs/database/src/migrate.ts': 'configured servers',
  'libs/database/src/wait-for-postgres.ts': 'configured servers',
  'libs/event-log/src/redis.ts': 'configured servers',
  'libs/service-kit/src/bus-connection.ts': 'configured servers',
  'services/messaging/src/model/outgoing/guarded-request.ts': 'addresses of users',
  'services/users/src/model/mail/mail-transport.ts': 'configured servers',
};

/** Imports of functions that connect, and the global `fetch`. */
const connects =
  /import (?!type )[^;]*\b(?:request|get|connect|createConnection|Agent|Socket)\b[^;]* from 'node:(?:https?|http2|net|tls)'|import (?!type )\w[^;]* from '(?:node:(?:https?|http2|net|tls)|pg)'|import (?!type )[^;]* from '(?:node:dgram|undici|nodemailer|ioredis|@nats-io\/transport-node)'|(?:await|return|=>|=) fetch\(/;

test('the table names every file that connects to addresses of users', () => {
  const files = ['services', 'libs']
    .flatMap((folder) => readdirSync(join(root, folder)).map((part) => `${folder}/${part}/src`))
    .filter((folder) => existsSync(join(root, folder)) && !/^services\/web|^libs\/(?:client|testkit)\//.test(folder))
    .flatMap((folder) =>
      readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' }).map((file) => `${folder}/${file}`),
    )
    .filter((file) => file.endsWith('.ts') && !file.endsWith('.test.ts'));
  expect(files.length).toBeGreaterThan(500);
  const found = files.filter((file) =>
    connects.test(readFileSync(join(root, file), 'utf8').replaceAll(/type \w+/g, '')),
  );
  // Their parameter `fetch` is the function of fetch-media.ts.
  const handed = [
    'services/messaging/src/external-content/bounded-fetches.ts',
    'services/messaging/src/external-content/external-content.ts',
  ];
  expect(found.filter((file) => !handed.includes(file)).sort()).toEqual(Object.keys(connecting).sort());
  const row = rows.find((line) => line.startsWith('| API7 '));
  for (const [file, to] of Object.entries(connecting))
    expect(row?.includes(file), file).toBe(to === 'addresses of users');
});

test('every file that SECURITY.md names exists', () => {
  const text = readFileSync(join(root, 'SECURITY.md'), 'utf8');
  const named = [...text.matchAll(/`((?:test-e2e|libs|services|deploy)\/[\w/.-]+)`/g)].map((match) => match[1] ?? '');
  expect(named.length).toBeGreaterThan(10);
  for (const file of named) expect(existsSync(join(root, file)), file).toBe(true);
});
