import { spawnSync } from 'node:child_process';
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
