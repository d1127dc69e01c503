import { execFileSync, spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdir, mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { createServer, request, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { buildPackage } from '@natter/client/publish';
import { openRealm, type Realm } from '@natter/testkit';
import { afterAll, beforeAll, expect, test } from 'vitest';

const root = fileURLToPath(new URL('../../../', import.meta.url));
const example = /```js\n([\s\S]*?)```/;
let directory: string;
let consumer: string;
let files: string[];
beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'natter-client-'));
  const built = join(directory, 'built');
  await buildPackage(built);
  const environment = {
    ...process.env,
    npm_config_cache: join(directory, 'cache'),
    npm_config_update_notifier: 'false',
  };
  const npm = (cwd: string, ...args: string[]): string =>
    execFileSync('npm', args, { cwd, encoding: 'utf8', env: environment, stdio: ['ignore', 'pipe', 'pipe'] });
  const [packed] = JSON.parse(npm(built, 'pack', '--json', '--pack-destination', directory)) as {
    filename: string;
    files: { path: string }[];
  }[];
  files = (packed?.files ?? []).map(({ path }) => path);
  consumer = join(directory, 'consumer');
  await mkdir(consumer);
  await writeFile(join(consumer, 'package.json'), '{"name":"consumer","private":true,"type":"module"}');
  npm(consumer, 'install', '--offline', '--no-audit', '--no-fund', join(directory, packed?.filename ?? ''));
});
afterAll(() => rm(directory, { recursive: true, force: true }));

test('the package is one module with types, and needs nothing else', async () => {
  expect(files.sort()).toEqual(['LICENSE', 'README.md', 'index.d.ts', 'index.js', 'package.json']);
  const installed = join(consumer, 'node_modules', '@natter-chat', 'client');
  const manifest = JSON.parse(await readFile(join(installed, 'package.json'), 'utf8'));
  expect(Object.keys(manifest).filter((key) => /dependencies/i.test(key))).toEqual([]);
  for (const name of ['index.js', 'index.d.ts', 'package.json']) {
    const text = await readFile(join(installed, name), 'utf8');
    expect(text, name).not.toMatch(/workspace:|catalog:|@natter\/|from ['"]zod|\/libs\//);
  }
  expect((await readFile(join(installed, 'index.js'), 'utf8')).length).toBeLessThan(150_000);
});

test('TypeScript knows its operations, and refuses what the API does not have', async () => {
  await mkdir(join(consumer, 'node_modules', '@types'), { recursive: true });
  await symlink(join(root, 'node_modules', '@types', 'node'), join(consumer, 'node_modules', '@types', 'node'));
  const readme = await readFile(join(consumer, 'node_modules', '@natter-chat', 'client', 'README.md'), 'utf8');
  await writeFile(join(consumer, 'example.js'), example.exec(readme)?.[1] ?? '');
  await writeFile(
    join(consumer, 'typed.ts'),
    `import { createClient, type Client } from '@natter-chat/client';
const client: Client = createClient({ url: 'http://localhost' });
const { id }: { id: number } = await client.sendMessage({ type: 'channel', to: 'general', topic: 'a', content: 'b' });
const messages: { id: number }[] = (await client.getMessages({ anchor: 'newest', num_before: 1, num_after: 0 })).messages;
await client.getOwnUser();
// @ts-expect-error A message has a content.
await client.sendMessage({ type: 'channel', to: 'general', topic: 'a' });
// @ts-expect-error There is no such parameter.
await client.sendMessage({ type: 'channel', to: 'general', topic: 'a', content: 'b', colour: 'red' });
// @ts-expect-error There is no such operation.
await client.sendCake();
// @ts-expect-error Nor such a type of message.
await client.sendMessage({ type: 'pigeon', to: 'general', topic: 'a', content: 'b' });
console.log(id, messages);
`,
  );
  for (const module of ['nodenext', 'bundler'])
    execFileSync(
      join(root, 'node_modules', '.bin', 'tsc'),
      [
        ...[
          '--noEmit',
          '--strict',
          '--allowJs',
          '--checkJs',
          '--target',
          'es2022',
          '--lib',
          'es2023',
          '--types',
          'node',
        ],
        ...['--moduleResolution', module, '--module', module === 'bundler' ? 'esnext' : 'nodenext'],
        ...['typed.ts', 'example.js'],
      ],
      { cwd: consumer, stdio: 'inherit' },
    );
});

/** The oldest Node that is supported, where there is one on this machine. */
const nodes = ['/usr/bin/node', '/usr/local/bin/node'].filter(existsSync);
const node =
  nodes.find((path) => execFileSync(path, ['--version'], { encoding: 'utf8' }).startsWith('v20')) ?? process.execPath;

test(`the example of the README answers who writes to it (Node ${execFileSync(node, ['--version'], { encoding: 'utf8' }).trim()})`, async () => {
  const realm = await openRealm();
  const proxy = await proxyTo(realm);
  const { port } = proxy.address() as AddressInfo;
  const bot = spawn(node, ['example.js'], {
    cwd: consumer,
    env: {
      NATTER_URL: `http://127.0.0.1:${port}`,
      NATTER_EMAIL: realm.member2.email,
      NATTER_API_KEY: realm.member2.api_key,
    },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  try {
    const ended = new Promise((resolve) => bot.once('exit', resolve));
    await new Promise((resolve) => bot.stdout.once('data', resolve));
    const queue = await realm.member.queue({ event_types: ['message'], apply_markdown: false });
    for (const content of ['hello', 'stop'])
      await realm.member.post('/messages', { type: 'direct', to: [realm.member2.user_id], content });
    // It leaves the loop, deletes its queue, and has nothing left to do.
    expect(await ended).toBe(0);
    const contents = (await queue.settle()).map((event) => event.message.content);
    expect(contents.filter((content) => content.startsWith('You'))).toEqual(['You said: hello', 'You said: stop']);
  } finally {
    bot.kill('SIGKILL');
    proxy.close();
  }
});

/** The realm under an address of its own: it is found by the Host header. */
function proxyTo({ host, owner }: Realm): Promise<Server> {
  const server = createServer((incoming, outgoing) => {
    const headers = { ...incoming.headers, host };
    const forwarded = request(`${owner.url}${incoming.url}`, { method: incoming.method, headers }, (answer) => {
      outgoing.writeHead(answer.statusCode ?? 500, answer.headers);
      answer.pipe(outgoing);
    });
    forwarded.once('error', () => outgoing.destroy());
    incoming.pipe(forwarded);
  });
  return new Promise((resolve) => server.listen(0, '127.0.0.1', () => resolve(server)));
}
