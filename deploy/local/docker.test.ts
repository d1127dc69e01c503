import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test, vi } from 'vitest';
import { startDocker } from './docker.ts';

const directory = mkdtempSync(join(tmpdir(), 'natter-docker-'));
afterAll(() => {
  vi.unstubAllEnvs();
  rmSync(directory, { recursive: true });
});

test('a container gets its variables from the environment of docker, not from its command line', async () => {
  const docker = `#!/bin/sh
printf '%s\\n' "$*" >> '${join(directory, 'command-lines')}'
[ "$1" != create ] || env > '${join(directory, 'environment')}'
`;
  writeFileSync(join(directory, 'docker'), docker, { mode: 0o755 });
  vi.stubEnv('PATH', `${directory}:${process.env.PATH}`);
  const context = { dataDir: directory, fresh: false, log: () => undefined, env: process.env };
  const server = await startDocker(context, {
    ...{
      name: 'postgres',
      image: 'postgres:18',
      url: 'postgres://127.0.0.1:1',
      home: directory,
      port: 1,
      innerPort: 2,
    },
    variables: { POSTGRES_PASSWORD: 'the password' },
    command: ['postgres'],
    answers: async () => true,
  });
  await server?.stop();
  const commandLines = readFileSync(join(directory, 'command-lines'), 'utf8');
  expect(commandLines).toMatch(/^create .* -e POSTGRES_PASSWORD postgres:18 postgres$/m);
  expect(commandLines).not.toContain('the password');
  expect(readFileSync(join(directory, 'environment'), 'utf8')).toContain('POSTGRES_PASSWORD=the password\n');
});
