import { execFile, spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdir, mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { brotliCompressSync } from 'node:zlib';
import { checkPackage, createPackageFromTarballData } from '@arethetypeswrong/core';
import { buildPackage } from '@natter/client/publish';
import { openRealm, type Realm } from '@natter/testkit';
import { publint } from 'publint';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { proxyTo } from './proxy-to.ts';

/** Not the synchronous form: it would stop the connection to NATS that all files of this process share. */
const execute = (program: string, args: string[], options: { cwd?: string; env?: NodeJS.ProcessEnv } = {}) =>
  promisify(execFile)(program, args, options).catch((error) => {
    throw new Error(`${error.message}\n${error.stdout}`);
  });
const root = fileURLToPath(new URL('../../../', import.meta.url));
let directory: string;
let consumer: string;
let archive: string;
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
  const npm = async (cwd: string, ...args: string[]): Promise<string> =>
    (await execute('npm', args, { cwd, env: environment })).stdout;
  const [packed] = JSON.parse(await npm(built, 'pack', '--json', '--pack-destination', directory)) as {
    filename: string;
    files: { path: string }[];
  }[];
  files = (packed?.files ?? []).map(({ path }) => path);
  archive = packed?.filename ?? '';
  consumer = join(directory, 'consumer');
  await mkdir(consumer);
  await writeFile(join(consumer, 'package.json'), '{"name":"consumer","private":true,"type":"module"}');
  await npm(consumer, 'install', '--offline', '--no-audit', '--no-fund', join(directory, archive));
});
afterAll(() => rm(directory, { recursive: true, force: true }));

test('the package is one module with types in two formats and without dependencies', async () => {
  expect(files.sort()).toEqual([
    ...['LICENSE', 'README.md', 'index.cjs', 'index.d.cts', 'index.d.ts', 'index.js', 'package.json'],
  ]);
  const installed = join(consumer, 'node_modules', '@natter-chat', 'client');
  const manifest = JSON.parse(await readFile(join(installed, 'package.json'), 'utf8'));
  expect(Object.keys(manifest).filter((key) => /dependencies/i.test(key))).toEqual([]);
  for (const name of ['index.js', 'index.cjs', 'index.d.ts', 'index.d.cts', 'package.json']) {
    const text = await readFile(join(installed, name), 'utf8');
    expect(text, name).not.toMatch(/workspace:|catalog:|@natter\/|from ['"]zod|\/libs\//);
  }
  // The package size is limited so that it can be loaded in a web page.
  expect(brotliCompressSync(await readFile(join(installed, 'index.js'))).length).toBeLessThan(15 * 1024);
});

test('publint and Are The Types Wrong report no problems', async () => {
  const { messages } = await publint({ pkgDir: join(directory, 'built'), strict: true });
  expect(messages).toEqual([]);
  const packed = await readFile(join(directory, archive));
  const { problems } = (await checkPackage(createPackageFromTarballData(packed))) as { problems: unknown[] };
  expect(problems).toEqual([]);
});

test('the package loads by import and by require', async () => {
  const print = 'console.log(typeof client.createClient, typeof client.follow)';
  for (const script of [
    ['-e', `const client = require('@natter-chat/client'); ${print}`],
    ['--input-type=module', '-e', `import * as client from '@natter-chat/client'; ${print}`],
  ])
    expect((await execute(node, script, { cwd: consumer })).stdout).toBe('function function\n');
});

test('TypeScript accepts the operations of the API and rejects anything else', async () => {
  await withNodeTypes();
  await writeFile(
    join(consumer, 'typed.ts'),
    `import { createClient, follow, type Client } from '@natter-chat/client';
const client: Client = createClient({ url: 'http://localhost' });
const { id }: { id: number } = await client.sendMessage({ type: 'channel', to: 'general', topic: 'a', content: 'b' });
const messages: { id: number }[] = (await client.getMessages({ anchor: 'newest', num_before: 1, num_after: 0 })).messages;
for (const message of (await client.getMessages({ anchor: 'newest', num_before: 1, num_after: 0 })).messages) {
  const whom: string | undefined = message.type === 'stream' ? message.display_recipient : message.display_recipient[0]?.email;
  console.log(whom, message.content.length, message.flags.length, message.reactions[0]?.emoji_name, message.edit_history?.[0]?.timestamp);
  // @ts-expect-error A direct message has no channel.
  console.log(message.stream_id);
}
await client.getOwnUser();
await client.uploadFile({ file: new Blob(['text']) });
for await (const event of await follow(client)) {
  if (event.type === 'reaction' && event.op === 'add') console.log(event.emoji_name.length, event.message_id + 1);
  if (event.type === 'gap') console.log(event.state.last_event_id + 1);
  // @ts-expect-error There is no such event.
  if (event.type === 'cake') break;
  // @ts-expect-error Not every event has a message.
  console.log(event.message);
}
// @ts-expect-error A message has a content.
await client.sendMessage({ type: 'channel', to: 'general', topic: 'a' });
// @ts-expect-error There is no such parameter.
await client.sendMessage({ type: 'channel', to: 'general', topic: 'a', content: 'b', colour: 'red' });
// @ts-expect-error There is no such operation.
await client.sendCake();
// @ts-expect-error No such type of message.
await client.sendMessage({ type: 'pigeon', to: 'general', topic: 'a', content: 'b' });
console.log(id, messages);
`,
  );
  for (const module of ['nodenext', 'bundler'] as const) await compile(module, ['typed.ts']);
});

test('every TypeScript example of the README and of the documentation compiles', async () => {
  await withNodeTypes();
  const readmes = [join(consumer, 'node_modules', '@natter-chat', 'client', 'README.md'), join(root, 'README.md')];
  for (const [index, readme] of readmes.entries()) {
    const examples = [...(await readFile(readme, 'utf8')).matchAll(/```(?:js|ts)\n([\s\S]*?)```/g)];
    expect([readme, examples.length]).toEqual([readme, 1]);
    await writeFile(join(consumer, `example${index}.ts`), examples[0]?.[1] ?? '');
  }
  const samples = await samplesOfDocs();
  expect(samples.length).toBeGreaterThan(150);
  const names = samples.map((_, i) => `sample${i}.ts`);
  for (const [i, sample] of samples.entries()) await writeFile(join(consumer, names[i] ?? ''), sample);
  for (const module of ['nodenext', 'bundler'] as const)
    await compile(module, ['example0.ts', 'example1.ts', ...names]);
});

async function withNodeTypes(): Promise<void> {
  const types = join(consumer, 'node_modules', '@types');
  if (existsSync(types)) return;
  await mkdir(types, { recursive: true });
  await symlink(join(root, 'node_modules', '@types', 'node'), join(types, 'node'));
}

const compile = (module: 'nodenext' | 'bundler', names: string[]) =>
  execute(
    join(root, 'node_modules', '.bin', 'tsc'),
    [
      ...['--outDir', 'js', '--strict', '--target', 'es2022', '--lib', 'es2023', '--types', 'node'],
      ...['--moduleResolution', module, '--module', module === 'bundler' ? 'esnext' : 'nodenext', ...names],
    ],
    { cwd: consumer },
  );

/** The TypeScript samples of `/docs`: every page that the first one names is read. */
async function samplesOfDocs(): Promise<string[]> {
  const { spectator } = await openRealm();
  const start: string = (await spectator.get('//docs')).body;
  const pages = new Set([...start.matchAll(/href="\/docs\/([\w-]+)"/g)].map(([, name = '']) => name));
  const samples: string[] = [];
  for (const name of pages) {
    const page: string = (await spectator.get(`//docs/${name}`)).body;
    const found = page.matchAll(/data-language="TypeScript">.*?<pre[^>]*><code>(.*?)<\/code>/gs);
    for (const [, code = ''] of found) samples.push(decoded(code));
  }
  return samples;
}

const entities: Record<string, string> = { lt: '<', gt: '>', quot: '"', amp: '&' };
const decoded = (html: string): string =>
  html.replace(/&(lt|gt|quot|amp);/g, (_, name: string) => entities[name] ?? '');

/** The oldest supported Node version, if one is installed. */
const paths = ['/usr/bin/node', '/usr/local/bin/node'].filter(existsSync);
const versions = await Promise.all(
  [...paths, process.execPath].map(async (path) => ({
    path,
    version: (await execute(path, ['--version'])).stdout.trim(),
  })),
);
const { path: node, version } = versions.find((one) => one.version.startsWith('v20')) ?? {
  path: process.execPath,
  version: process.version,
};

/** Runs an example as a user or a bot, until it is stopped. */
async function run(example: string, { host, owner }: Realm, as: { email: string; api_key: string }): Promise<Running> {
  let polls: () => void = () => undefined;
  const following = new Promise<void>((resolve) => {
    polls = resolve;
  });
  const proxy = await proxyTo(host, owner.url, ({ url }) => url?.startsWith('/api/v1/events') && polls());
  const { port } = proxy.address() as AddressInfo;
  const cwd = await mkdtemp(join(directory, 'bot-'));
  const env = { NATTER_URL: `http://127.0.0.1:${port}`, NATTER_EMAIL: as.email, NATTER_API_KEY: as.api_key };
  const start = () => spawn(node, [join(consumer, 'js', example)], { cwd, env, stdio: ['ignore', 'pipe', 'inherit'] });
  let child = start();
  return {
    exit: () => new Promise((resolve) => child.once('exit', resolve)),
    following,
    again: () => {
      child = start();
    },
    stop: () => {
      child.kill('SIGKILL');
      proxy.close();
    },
  };
}
interface Running {
  exit(): Promise<unknown>;
  /** Resolves at the first poll. */
  following: Promise<void>;
  again(): void;
  stop(): void;
}

test(`the example replies to users and resumes where it stopped (Node ${version})`, async () => {
  const realm = await openRealm();
  const bot = await run('example0.js', realm, realm.member2);
  const say = (content: string) =>
    realm.member.post('/messages', { type: 'direct', to: [realm.member2.user_id], content });
  try {
    await bot.following;
    const queue = await realm.member.queue({ event_types: ['message'], apply_markdown: false });
    const first = bot.exit();
    for (const content of ['hello', 'stop']) await say(content);
    expect(await first).toBe(0);
    await say('meanwhile');
    bot.again();
    const second = bot.exit();
    await say('stop');
    expect(await second).toBe(0);
    const contents = (await queue.settle()).map((event) => event.message.content);
    expect(contents.filter((content) => content.startsWith('You'))).toEqual(
      ['hello', 'stop', 'meanwhile', 'stop'].map((said) => `You said: ${said}`),
    );
  } finally {
    bot.stop();
  }
});

test('the commands of the README create a folder in which its bot runs', async () => {
  const readme = await readFile(join(root, 'README.md'), 'utf8');
  const [, commands = ''] = /```sh\n(npm run ts libs\/client\/publish[\s\S]*?)```/.exec(readme) ?? [];
  const [program = ''] = /(?<=```ts\n)import \{ createClient[\s\S]*?(?=```)/.exec(readme) ?? [];
  const folder = join(directory, 'bot');
  const [run = '', ...prepare] = commands.trim().replaceAll('../bot', folder).split('\n').reverse();
  const npm = { npm_config_cache: join(directory, 'cache'), npm_config_offline: 'true', npm_config_audit: 'false' };
  await execute('sh', ['-ec', prepare.reverse().join('\n')], { cwd: root, env: { ...process.env, ...npm } });
  await writeFile(join(folder, 'bot.mjs'), program);
  const realm = await openRealm();
  let polls: () => void = () => undefined;
  const following = new Promise<void>((resolve) => {
    polls = resolve;
  });
  const proxy = await proxyTo(realm.host, realm.owner.url, ({ url }) => url?.startsWith('/api/v1/events') && polls());
  const { email, api_key } = realm.member2;
  const line = run.replace('EMAIL=EMAIL', `EMAIL=${email}`).replace('API_KEY=API_KEY', `API_KEY=${api_key}`);
  expect(line).toMatch(/^NATTER_EMAIL=\S+@\S+ NATTER_API_KEY=\w+ node bot\.mjs$/);
  const url = `http://127.0.0.1:${(proxy.address() as AddressInfo).port}`;
  const env = { PATH: `${dirname(node)}:${process.env.PATH}`, NATTER_URL: url };
  const bot = spawn('sh', ['-c', `exec env ${line}`], { cwd: folder, env, stdio: ['ignore', 'ignore', 'inherit'] });
  try {
    await following;
    const queue = await realm.member.queue({ event_types: ['message'] });
    await realm.member.ok('POST', '/messages', { type: 'direct', to: [realm.member2.user_id], content: 'hi' });
    const contents: string[] = [];
    const said = async (): Promise<string[]> => {
      for (const { message } of await queue.settle()) contents.push(message.content);
      return contents;
    };
    await expect.poll(said, { interval: 100 }).toEqual(['hi', 'hello']);
  } finally {
    bot.kill('SIGKILL');
    proxy.close();
  }
});

test('bots made from the examples reply to people, in channels only if mentioned, and never to bots', async () => {
  const realm = await openRealm();
  const subscriptions = JSON.stringify([{ name: 'bots' }]);
  const accounts: { email: string; api_key: string; user_id: number }[] = [];
  for (const name of ['one', 'two', 'three']) {
    const { user_id, api_key } = await realm.member.ok('POST', '/bots', { full_name: name, short_name: name });
    const { user } = await realm.member.ok('GET', `/users/${user_id}`);
    accounts.push({ email: user.email, api_key, user_id });
  }
  await realm.member.ok('POST', '/users/me/subscriptions', {
    subscriptions,
    principals: [realm.member.user_id, ...accounts.map(({ user_id }) => user_id)],
  });
  const queue = await realm.member.queue({ event_types: ['message'], all_public_streams: true });
  const bots = await Promise.all(accounts.map((account, index) => run(`example${index % 2}.js`, realm, account)));
  try {
    await Promise.all(bots.map(({ following }) => following));
    const everybody = '@**one** @**two** @**three**';
    await realm.member.ok('POST', '/messages', { type: 'channel', to: 'bots', topic: 't', content: `hi ${everybody}` });
    await realm.member.ok('POST', '/messages', { type: 'channel', to: 'bots', topic: 't', content: 'nobody' });
    const to = accounts.map(({ user_id }) => user_id);
    await realm.member.ok('POST', '/messages', { type: 'direct', to, content: 'hi all' });
    const senders: number[] = [];
    const counts = async () => {
      for (const { message } of await queue.settle()) senders.push(message.sender_id);
      return [realm.member.user_id, ...to].map((id) => senders.filter((sender) => sender === id).length);
    };
    await expect.poll(counts, { interval: 100 }).toEqual([3, 2, 2, 2]);
    // Answers to answers would come in this minute; only time shows that there are none.
    await new Promise((resolve) => setTimeout(resolve, 60_000));
    expect(await counts()).toEqual([3, 2, 2, 2]);
  } finally {
    for (const bot of bots) bot.stop();
  }
});
