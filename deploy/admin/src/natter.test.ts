import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { programs } from './programs.ts';

/** Without settings: a service that began to run would fail with another exit code. */
function natter(...args: string[]): { code: number | null; printed: string; complained: string } {
  const { NATTER_NATS_URL: _, ...env } = process.env;
  const options = { encoding: 'utf8', env } as const;
  const { status, stdout, stderr } = spawnSync(
    process.execPath,
    [join(import.meta.dirname, 'natter.ts'), ...args],
    options,
  );
  return { code: status, printed: stdout, complained: stderr };
}

test('`--help` of a service prints its usage without starting it, and a service rejects arguments', () => {
  for (const name of Object.keys(programs)) {
    const { code, printed, complained } = natter(name, '--help');
    expect([code, printed, complained]).toEqual([0, expect.stringMatching(`^usage: natter ${name}\\n`), '']);
  }
  const { code, printed, complained } = natter('gateway', '--port', '80');
  expect([code, printed, complained]).toEqual([2, '', expect.stringContaining('a service takes no arguments')]);
});

test('an unknown command is named in the error, and the known commands are listed', () => {
  for (const [args, name] of [
    [['dance'], 'dance'],
    [['constructor'], 'constructor'],
    [['realm', 'remove', '--host', 'x'], 'realm remove'],
  ] as const) {
    const { code, printed, complained } = natter(...args);
    expect([code, printed]).toEqual([2, '']);
    expect(complained).toContain(`natter: there is no command "${name}"\n`);
    expect(complained).toContain('realm create');
  }
});

test('requested help goes to standard output, and a missing command prints the usage to standard error', () => {
  expect(natter('help')).toMatchObject({ code: 0, complained: '' });
  const nothing = natter();
  expect([nothing.code, nothing.printed]).toEqual([2, '']);
  expect(nothing.complained).toMatch(/^usage: natter <command>/);
});

test('the token key can be read from standard input, because a container cannot read the files of the operator', () => {
  const args = ['realm', 'jwt', '--host', 'x', '--algorithm', 'HS256', '--key-file'];
  // The key was read when the next missing thing is named.
  expect(natter(...args, '-').complained).toContain('NATTER_NATS_URL is missing');
  expect(natter(...args, '/nowhere/key').complained).toContain('no such file');
});

test('a command over NATS fails with the address and the reason if NATS is unreachable or refuses the operator', async () => {
  const refusing = createServer((socket) => {
    socket.on('error', () => undefined);
    socket.write('INFO {"auth_required":true,"max_payload":1048576,"version":"2.9.0"}\r\n');
    socket.on('data', () => socket.end("-ERR 'Authorization Violation'\r\n"));
  });
  refusing.listen(0, '127.0.0.1');
  await once(refusing, 'listening');
  const { port } = refusing.address() as { port: number };
  const complaints = await Promise.all(
    [`nats://operator:old@127.0.0.1:${port}`, 'nats://operator:old@127.0.0.1:1'].map(async (url) => {
      const args = [join(import.meta.dirname, 'natter.ts'), 'realm', 'deactivate', '--host', 'chat.example.com'];
      const child = spawn(process.execPath, args, { env: { ...process.env, NATTER_NATS_URL: url } });
      let complained = '';
      child.stderr.on('data', (data) => {
        complained += data;
      });
      expect(await once(child, 'close')).toEqual([1, null]);
      return complained;
    }),
  );
  refusing.close();
  expect(complaints[0]).toContain(`NATS at 127.0.0.1:${port} is unreachable, or refuses its user "operator"`);
  expect(complaints[1]).toContain('NATS at 127.0.0.1:1 is unreachable, or refuses its user "operator"');
  expect(complaints.join()).not.toContain('old');
  const env = { ...process.env, NATTER_NATS_URL: 'localhost' };
  const args = [join(import.meta.dirname, 'natter.ts'), 'realm', 'deactivate', '--host', 'x'];
  expect(spawnSync(process.execPath, args, { encoding: 'utf8', env }).stderr).toContain('NATTER_NATS_URL is not a URL');
});
