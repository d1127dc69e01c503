import { execFile } from 'node:child_process';
import { mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { openRealm, type Realm } from '@natter/testkit';
import { build } from 'esbuild';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { proxyTo } from './proxy-to.ts';

const execute = promisify(execFile);
const root = fileURLToPath(new URL('../../../', import.meta.url));
const installed = join(root, 'test-e2e', 'node_modules');
const guide = join(root, 'docs', 'guides', 'generated-clients.md');

let realm: Realm;
let url: string;
let close: () => void;
let directory: string;
const programs: string[] = [];

/** The guide's code as files, and what its commands generate from the running server. */
beforeAll(async () => {
  realm = await openRealm();
  await realm.member.ok('POST', '/users/me/subscriptions', { subscriptions: [{ name: 'general' }] });
  const proxy = await proxyTo(realm.host, realm.owner.url);
  close = () => proxy.close();
  url = `http://127.0.0.1:${(proxy.address() as AddressInfo).port}`;
  directory = await mkdtemp(join(tmpdir(), 'natter-generated-'));
  await symlink(installed, join(directory, 'node_modules'));
  for (const [, language, code = ''] of (await readFile(guide, 'utf8')).matchAll(/```(ts|sh)\n([\s\S]*?)```/g)) {
    if (language === 'ts') {
      const name = /^\/\/ Save as (\S+)\n/.exec(code)?.[1] ?? '';
      await writeFile(join(directory, name), code);
      if (name !== 'wire.ts') programs.push(name);
    } else {
      const [npx, program = '', ...args] = code.trim().replace('http://127.0.0.1:9991', url).split(' ');
      expect(npx).toBe('npx');
      const command = { 'openapi-typescript': program, '@hey-api/openapi-ts': 'openapi-ts' }[program] ?? program;
      await execute(join(installed, '.bin', command), args, { cwd: directory });
    }
  }
});

afterAll(async () => {
  close();
  await rm(directory, { recursive: true, force: true });
});

test('clients of three generators, with the programs of the guide, compile in strict mode', async () => {
  expect(programs).toEqual(['openapi-fetch.ts', 'hey-api.ts', 'swagger-typescript-api.ts']);
  const options = ['--noEmit', '--strict', '--target', 'es2022', '--lib', 'es2023,dom,dom.iterable'];
  const modules = ['--module', 'esnext', '--moduleResolution', 'bundler'];
  const types = ['--typeRoots', join(root, 'node_modules', '@types'), '--types', 'node'];
  const compiled = execute(join(root, 'node_modules', '.bin', 'tsc'), [...options, ...modules, ...types, ...programs], {
    cwd: directory,
  });
  expect(await compiled.catch(({ stdout }) => ({ stdout }))).toMatchObject({ stdout: '' });
});

test('clients of three generators send messages, follow queues with event_types, narrow and upload files', async () => {
  const { email, api_key } = realm.member;
  const env = { ...process.env, NATTER_URL: url, NATTER_EMAIL: email, NATTER_API_KEY: api_key };
  for (const program of programs) {
    const outfile = join(directory, program.replace(/ts$/, 'mjs'));
    await build({ entryPoints: [join(directory, program)], outfile, bundle: true, platform: 'node', format: 'esm' });
    const { stdout } = await execute(process.execPath, [outfile], { cwd: directory, env });
    expect([program, stdout]).toEqual([program, 'followed true\nfound true\nuploaded notes.txt\n']);
  }
});
