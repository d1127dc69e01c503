import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test, vi } from 'vitest';
import { credentialsOf } from './credentials.ts';

const directory = mkdtempSync(join(tmpdir(), 'natter-docker-'));
afterAll(() => {
  vi.unstubAllEnvs();
  rmSync(directory, { recursive: true });
});

/** A docker that notes its command line, and runs the command with the variables that `-e` names. */
const docker = `#!/bin/sh
printf '%s\\n' "$@" > '${join(directory, 'command-line')}'
while [ "$1" != credentials ]; do shift; done
exec '${process.execPath}' '${join(import.meta.dirname, '..', 'admin', 'src', 'natter.ts')}' "$@"
`;
const NATTER_SECRET = 'the secret of this test';
const NATTER_POSTGRES_ADMIN_URL = 'postgres://natter:owner-password@postgres:5432/natter';
const printed = (...args: string[]): string =>
  credentialsOf('image', { NATTER_SECRET, NATTER_POSTGRES_ADMIN_URL }, args);

test('secrets reach the command of the image by its environment, and stand in no command line and no error', () => {
  writeFileSync(join(directory, 'docker'), docker, { mode: 0o755 });
  vi.stubEnv('PATH', `${directory}:${process.env.PATH}`);
  const urls = ['--redis', 'redis://redis', '--nats', 'nats://nats'];
  const lines = printed('--format', 'env', '--service', 'operator', ...urls).split('\n');
  expect(lines).toContain(`NATTER_POSTGRES_ADMIN_URL=${NATTER_POSTGRES_ADMIN_URL}`);
  const commandLine = readFileSync(join(directory, 'command-line'), 'utf8');
  expect(commandLine).toContain('\nNATTER_SECRET\n');
  expect(commandLine).not.toMatch(/the secret|owner-password/);
  let failure: unknown;
  try {
    printed('--format', 'unknown');
  } catch (error) {
    failure = error;
  }
  expect(String(failure)).toContain('Command failed: docker run');
  expect(String(failure)).not.toMatch(/the secret|owner-password/);
});
