import { execFile } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { buildPackage } from '@natter/client/publish';
import { localDirectory } from '@natter/local/private-directory';
import { openRealm, type Realm } from '@natter/testkit';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { proxyTo } from './proxy-to.ts';

const run = promisify(execFile);

/** Registers, sends a message, and prints its event. */
const program = `import { createClient, follow } from './built/index.js';
const [url, email, apiKey] = process.argv.slice(2);
const client = createClient({ url, email, apiKey });
const me = await client.getOwnUser();
const feed = await follow(client, { event_types: ['message'] });
await client.sendMessage({ type: 'direct', to: [me.user_id], content: 'from another runtime' });
for await (const event of feed) {
  if (event.type !== 'message') continue;
  console.log(event.message.content);
  break;
}
`;

/** Packages with the binaries of Deno and Bun, by platform. They are large, so `npm start` does not install them. */
const packages: Readonly<Record<string, readonly [deno: string, bun: string]>> = {
  'linux-x64': ['@deno/linux-x64-glibc', '@oven/bun-linux-x64'],
  'linux-arm64': ['@deno/linux-arm64-glibc', '@oven/bun-linux-aarch64'],
  'darwin-arm64': ['@deno/darwin-arm64', '@oven/bun-darwin-aarch64'],
};
const [deno, bun] = packages[`${process.platform}-${process.arch}`] ?? [];
const folder = localDirectory('cache', 'runtimes');
const runtimes = [
  {
    name: 'Deno',
    binary: `${deno}/deno`,
    args: ['run', '--no-config', '--no-remote', '--allow-net', '--allow-env'],
  },
  { name: 'Bun', binary: `${bun}/bin/bun`, args: ['run'] },
];

let realm: Realm;
let directory: string;
let url: string;
let close: () => void;
beforeAll(async () => {
  realm = await openRealm();
  const proxy = await proxyTo(realm.host, realm.owner.url);
  close = () => proxy.close();
  url = `http://127.0.0.1:${(proxy.address() as AddressInfo).port}`;
  directory = await mkdtemp(join(tmpdir(), 'natter-runtimes-'));
  await buildPackage(join(directory, 'built'));
  await writeFile(join(directory, 'program.mjs'), program);
  const wanted = [`${deno}@2.9.6`, `${bun}@1.4.5`];
  const install = ['install', '--prefix', folder, '--no-save', '--no-audit', '--no-fund', ...wanted];
  // The registry may be away for a moment.
  for (let attempt = 1; ; attempt++)
    try {
      await run('npm', install);
      break;
    } catch (error) {
      if (attempt === 4) throw error;
    }
});
afterAll(async () => {
  close?.();
  await rm(directory, { recursive: true, force: true });
});

test.each(runtimes)('the client follows events on $name', async ({ binary, args }) => {
  const { email, api_key } = realm.member;
  // The cache of the runtime stays out of the home directory.
  const env = { PATH: process.env.PATH, HOME: directory };
  const given = [...args, 'program.mjs', url, email, api_key];
  const { stdout } = await run(join(folder, 'node_modules', binary), given, { cwd: directory, env, timeout: 300_000 });
  expect(stdout).toBe('from another runtime\n');
});
