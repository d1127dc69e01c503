import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { buildPackage } from '@natter/client/publish';
import { openRealm, type Realm } from '@natter/testkit';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { proxyTo } from './proxy-to.ts';

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

const require = createRequire(import.meta.url);
const cpu = process.arch === 'arm64' ? 'arm64' : 'x64';
/** The binary in a package of a runtime; undefined on platforms for which none is installed. */
function binaryOf(name: string, file: string): string | undefined {
  try {
    const binary = join(dirname(require.resolve(`${name}/package.json`)), file);
    return existsSync(binary) ? binary : undefined;
  } catch {
    return undefined;
  }
}
const runtimes = [
  {
    name: 'Deno',
    binary: binaryOf(`@deno/linux-${cpu}-glibc`, 'deno'),
    args: ['run', '--no-config', '--no-remote', '--allow-net', '--allow-env'],
  },
  { name: 'Bun', binary: binaryOf(`@oven/bun-linux-${cpu === 'x64' ? 'x64' : 'aarch64'}`, 'bin/bun'), args: ['run'] },
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
});
afterAll(async () => {
  close?.();
  await rm(directory, { recursive: true, force: true });
});

for (const { name, binary, args } of runtimes)
  test.skipIf(binary === undefined)(
    `the client follows events on ${name}${binary === undefined ? ': SKIPPED: it is not installed here' : ''}`,
    async () => {
      const { email, api_key } = realm.member;
      // The cache of the runtime stays out of the home directory.
      const env = { PATH: process.env.PATH, HOME: directory };
      const given = [...args, 'program.mjs', url, email, api_key];
      const { stdout } = await promisify(execFile)(binary ?? '', given, { cwd: directory, env, timeout: 300_000 });
      expect(stdout).toBe('from another runtime\n');
    },
  );
