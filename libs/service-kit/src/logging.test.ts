import { spawnSync } from 'node:child_process';
import { closeSync, existsSync, openSync } from 'node:fs';
import { ChatError } from '@natter/contracts';
import { expect, test } from 'vitest';
import { createLogger } from './logging.ts';

/** The log line of an error, as text. */
function lineOf(error: unknown): string {
  const lines: string[] = [];
  createLogger('test', 'info', { write: (line) => void lines.push(line) }).error({ err: error }, 'request failed');
  expect(lines).toHaveLength(1);
  return lines[0] ?? '';
}
const failed = (message: string, properties: object): Error => Object.assign(new Error(message), properties);

test('the log contains names and codes of a Postgres error, but no values of a row, parameter or query', () => {
  const line = lineOf(
    failed('duplicate key value violates unique constraint "account_email"', {
      name: 'error',
      severity: 'ERROR',
      code: '23505',
      schema: 'users',
      table: 'account',
      constraint: 'account_email',
      routine: '_bt_check_unique',
      detail: 'Key (lower(email))=(secret-ann) already exists.',
      hint: 'secret-hint',
      where: 'unnamed portal parameter $1 = secret-parameter',
      internalQuery: "SELECT 'secret-query'",
      parameters: ['secret-value'],
      query: 'INSERT secret-statement',
      dataType: 'text',
    }),
  );
  expect(line).not.toContain('secret');
  expect(JSON.parse(line).err).toMatchObject({
    message: 'duplicate key value violates unique constraint "account_email"',
    code: '23505',
    schema: 'users',
    table: 'account',
    constraint: 'account_email',
    stack: expect.stringContaining('logging.test.ts'),
  });
});

test.each([
  ['invalid input syntax for type integer: "secret"', '22P02', 'invalid input syntax for type integer: "[value]"'],
  ['invalid input syntax for type json "a" b: "secret "x" y"', '22P02', 'invalid input syntax for type json "[value]"'],
  ['integer out of range', '22003', 'integer out of range'],
  ['syntax error at or near "secret"', '42601', 'syntax error at or near "[value]"'],
  ['time zone not recognized: secret', '22023', 'time zone not recognized: [value]'],
  ['relation "users.account" does not exist', '42P01', 'relation "users.account" does not exist'],
])('the Postgres error %j is logged without values', (message, code, expected) => {
  expect(JSON.parse(lineOf(failed(message, { code }))).err.message).toBe(expected);
});

test('addresses, command arguments and server responses are not logged, including those of causes', () => {
  const redis = failed('OOM command not allowed', {
    name: 'ReplyError',
    command: { name: 'set', args: ['secret-argument'] },
  });
  const mail = failed("Can't send mail: 550 <ann.secret@mail.example> unknown", {
    code: 'EENVELOPE',
    responseCode: 550,
    response: '550 secret-answer',
    rejected: ['secret@mail.example'],
  });
  const outer = new ChatError(
    'SERVICE_UNAVAILABLE',
    'away',
    {},
    { cause: new AggregateError([redis, mail], 'several') },
  );
  for (const error of [redis, mail, outer, failed('connect redis://user:secret@host:1', {})])
    expect(lineOf(error)).not.toContain('secret');
  const { err } = JSON.parse(lineOf(outer));
  expect([err.code, err.cause.errors[1].responseCode]).toEqual(['SERVICE_UNAVAILABLE', 550]);
  expect(lineOf('secret text that was thrown')).not.toContain('secret');
  const loop = new Error('loop');
  loop.cause = loop;
  expect(lineOf(loop).length).toBeLessThan(20_000);
});

test('a field that contains a credential is redacted at any depth and in any spelling', () => {
  const lines: string[] = [];
  const log = createLogger('test', 'info', { write: (line) => void lines.push(line) });
  const credentials = Object.fromEntries(
    [
      ...['password', 'old_password', 'newPassword', 'password_hash', 'api_key', 'apiKey', 'Authorization'],
      ...['cookie', 'Cookie', 'set-cookie', 'Set-Cookie', 'session', 'sessionid', '__Host-sessionid', 'token'],
      ...['csrf', 'csrftoken', '__Host-csrftoken', 'csrfmiddlewaretoken', 'X-CSRFToken', 'sealed_session'],
    ].map((name) => [name, name === 'set-cookie' ? ['secret'] : 'secret']),
  );
  log.info(credentials, 'fields');
  log.info({ request: { headers: credentials }, calls: [{ params: { body: credentials } }] }, 'request');
  const loop: Record<string, unknown> = { token: 'secret' };
  loop.loop = loop;
  log.info(loop);
  log.child({ operation: 'login', token: 'secret' }).info({ req: { raw: { headers: credentials } } });
  log.child({ operation: 'login' }).child({ token: 'secret' }).info('of a child of a child');
  expect(lines).toHaveLength(5);
  expect(lines.join()).not.toContain('secret');
  expect(JSON.parse(lines[0] ?? '')).toMatchObject({ 'set-cookie': '[redacted]', csrftoken: '[redacted]' });
  log.info({ port: 1, at: new Date(0), names: ['a'], err: new Error('failed') }, 'other fields');
  expect(JSON.parse(lines[5] ?? '')).toMatchObject({
    port: 1,
    at: '1970-01-01T00:00:00.000Z',
    names: ['a'],
    err: { message: 'failed' },
  });
});

test.skipIf(!existsSync('/dev/full'))('a process continues when it cannot write a log line', () => {
  const file = JSON.stringify(new URL('./logging.ts', import.meta.url).href);
  const program = `
    const { createLogger } = await import(${file});
    const log = createLogger('test', 'info');
    for (let count = 0; count < 5; count++) {
      log.info('this has no room');
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
    process.stderr.write('done');
    process.kill(process.pid, 'SIGKILL');`;
  const full = openSync('/dev/full', 'w');
  const args = ['--input-type=module', '--eval', program];
  const { stderr, signal } = spawnSync(process.execPath, args, {
    stdio: ['ignore', full, 'pipe'],
    encoding: 'utf8',
    timeout: 120_000,
  });
  closeSync(full);
  expect([stderr.endsWith('done'), signal]).toEqual([true, 'SIGKILL']);
});
