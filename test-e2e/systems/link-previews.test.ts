import { createServer, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { type Database, sql } from '@natter/database';
import type { System } from '@natter/local/system';
import { Client } from '@natter/testkit';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { z } from 'zod';
import { type Answer, request } from '../api.ts';
import { type NameServer, startNameServer } from '../name-server.ts';
import { openDatabase } from '../open-servers.ts';
import { dataDirectory, openSystem } from '../open-system.ts';
import { operatorSettings, runNatter } from '../operator-command.ts';
import { requestOnce } from '../patience.ts';
import { embed, linkTo, picturePath, unsigned } from './preview-html.ts';

const png = Buffer.concat([Buffer.from('\x89PNG\r\n\x1a\n', 'latin1'), Buffer.alloc(2_000, 7)]);
/** How often each path was requested. */
const asked = new Map<string, number>();
/** Answers that wait until the test continues them. */
const held = new Map<string, ServerResponse[]>();
let count = 0;
let site: Server;
let names: NameServer;
/** A site at an address that the system may not reach. */
let internal: Server;
let dataDir: string;
let system: System;
let database: Database;

const page = (title: string, rest = ''): string =>
  `<!doctype html><head><title>${title}</title><meta property="og:image" content="/picture">${rest}</head><p>x</p>`;
const described = '<meta property="og:title" content="The title"><meta name=description content="It is described">';
const hostile = '&lt;img src=x onerror="alert(1)"&gt;"&#39;&amp;lt;';

function answerOf(path: string, answer: ServerResponse): void {
  const html = (text: string) => answer.setHeader('content-type', 'text/html; charset=utf-8').end(text);
  if (path === '/picture') answer.setHeader('content-type', 'image/png').end(png);
  else if (path === '/described') html(page('unused', described));
  else if (path === '/imageless') html('<title>No image</title>');
  else if (path === '/hostile') html(page(hostile, `<meta name="description" content="</div><script>">`));
  else if (path === '/to-page') answer.writeHead(302, { location: '/described' }).end();
  else if (path === '/to-internal')
    answer.writeHead(302, { location: `http://127.0.0.1:${portOf(internal)}/secret` }).end();
  else if (path === '/endless') sendEndlessly(answer.setHeader('content-type', 'text/html'));
  else if (path === '/text') answer.setHeader('content-type', 'text/plain').end(page('no page'));
  else if (path.startsWith('/silent')) return;
  else if (path.startsWith('/held') && (asked.get(path) ?? 0) < 3) held.set(path, [...(held.get(path) ?? []), answer]);
  else html(page(`Page ${path.slice(1)}`));
}

function sendEndlessly(answer: ServerResponse): void {
  answer.write(page('Without end'));
  const more = (): void => {
    if (!answer.destroyed) answer.write('<p>more</p>'.repeat(1_000), () => setImmediate(more));
  };
  more();
}

/** Answers the requests of a held path, and all further ones. Returns whether they still wait for it. */
function release(path: string): boolean {
  asked.set(path, 100);
  const wasAwaited = isAwaited(path);
  for (const answer of held.get(path) ?? []) answerOf(path, answer);
  return wasAwaited;
}
const isAwaited = (path: string): boolean => (held.get(path) ?? []).every(({ destroyed }) => !destroyed);

const listening = async (host: string): Promise<Server> => {
  const server = createServer((from, to) => {
    const path = from.url ?? '';
    asked.set(path, (asked.get(path) ?? 0) + 1);
    answerOf(path, to);
  });
  await new Promise<void>((resolve) => server.listen(0, host, resolve));
  return server;
};
const portOf = (server: Server): number => (server.address() as AddressInfo).port;
const at = (path: string): string => `http://127.0.0.2:${portOf(site)}${path}`;

beforeAll(async () => {
  names = await startNameServer();
  internal = await listening('127.0.0.1');
  site = await listening('127.0.0.2');
  dataDir = await dataDirectory();
  system = await openSystem({
    dataDir,
    env: {
      ...names.env,
      NATTER_RATE_LIMIT_ANONYMOUS_FILES: '1000',
      NATTER_EXTERNAL_CONTENT_NETWORKS: '127.0.0.2/32',
    },
    gateways: 1,
    replicas: { messaging: 2 },
  });
  database = openDatabase(system.servers.postgresUrl, 1);
  await wanted(true);
});
afterAll(async () => {
  await database?.close();
  await system?.stop();
  names?.close();
  for (const server of [site, internal]) server?.closeAllConnections();
  for (const server of [site, internal]) server?.close();
});

async function ok(route: string, form: Answer = {}, who = system.people.owner): Promise<Answer> {
  const { status, body } = await requestOnce(system.url, who, route, form);
  expect([status, body]).toEqual([200, expect.anything()]);
  return body;
}
const wanted = (isOn: boolean) => ok('PATCH /realm', { inline_url_embed_preview: isOn });
const topic = { type: 'channel', to: 'general', topic: 'links' };
const send = async (content: string, form: Answer = topic, who = system.people.owner) =>
  (await ok('POST /messages', { ...form, content }, who)).id as number;
const content = async (id: number): Promise<string> => (await ok(`GET /messages/${id}`)).message.content;
const shown = async (id: number): Promise<string> => unsigned(await content(id));

/** Follows the changes of messages from now on. */
async function follow(who = system.people.member) {
  const { queue_id, last_event_id } = await ok('POST /register', { event_types: ['update_message'] }, who);
  let last = last_event_id;
  const seen: Answer[] = [];
  const read = async (): Promise<void> => {
    const { events } = await ok('GET /events', { queue_id, last_event_id: last, dont_block: true }, who);
    for (const event of events) {
      last = Math.max(last, event.id);
      if (event.type === 'update_message')
        seen.push({ ...event, rendered_content: unsigned(event.rendered_content ?? '') });
    }
  };
  const changes = (id: number): Answer[] => seen.filter(({ message_id }) => message_id === id);
  return {
    /** The changes of a message when it has so many. */
    changesOf: async (id: number, count = 1): Promise<Answer[]> => {
      await expect.poll(() => read().then(() => changes(id).length)).toBeGreaterThanOrEqual(count);
      return changes(id);
    },
  };
}

/** The users for whom the preview jobs of messages run. */
const causesOf = (ids: readonly number[]) =>
  database.any(sql.type(z.object({ caused_by: z.number() }))`
    SELECT caused_by FROM messaging.link_preview_job WHERE message_id = ANY(${sql.array([...ids], 'int8')})`);
const jobs = async (id: number): Promise<number> => (await causesOf([id])).length;
const jobEnds = (id: number) => expect.poll(() => jobs(id)).toBe(0);
const requested = (path: string) => expect.poll(() => asked.get(path) ?? 0).toBeGreaterThan(0);

/** Sends a message with a page that is requested, and not answered. */
async function beginFetch(): Promise<{ id: number; path: string }> {
  for (;;) {
    const path = `/held/${count++}`;
    const id = await send(at(path));
    await requested(path);
    if (isAwaited(path)) return { id, path };
  }
}
const workers = () => system.children.filter(({ program }) => program === 'messaging');

/**
 * Sends a message with a page that is answered after `act`; another one, after `undo`, if the server no longer waits for it
 * then.
 */
async function duringFetch(
  act: (id: number, path: string) => Promise<unknown>,
  undo: () => Promise<unknown> = async () => undefined,
): Promise<{ id: number; path: string }> {
  for (;;) {
    const { id, path } = await beginFetch();
    await act(id, path);
    if (release(path)) return { id, path };
    await undo();
  }
}

test('a linked page is shown below the message, and an event announces the new content', async () => {
  const follower = await follow();
  const url = at('/described');
  const id = await send(url);
  const [event, ...more] = await follower.changesOf(id);
  const description = '<div class="message_embed_description">It is described</div>';
  expect(event).toEqual({
    id: expect.any(Number),
    type: 'update_message',
    user_id: null,
    rendering_only: true,
    message_id: id,
    message_ids: [id],
    flags: [],
    edit_timestamp: expect.any(Number),
    stream_id: expect.any(Number),
    stream_name: 'general',
    content: url,
    rendered_content: linkTo(url) + embed(url, 'The title', description),
  });
  expect(more).toEqual([]);
  expect(await shown(id)).toBe(event?.rendered_content);
  expect((await ok(`GET /messages/${id}`)).message).not.toHaveProperty('last_edit_timestamp');
  expect((await ok(`GET /messages/${id}/history`)).message_history).toHaveLength(1);
  const [path] = (await content(id)).match(picturePath) ?? [];
  const picture = await fetch(system.url + path);
  expect([picture.status, Buffer.from(await picture.arrayBuffer()).equals(png)]).toEqual([200, true]);
  expect(await jobs(id)).toBe(0);
});

test('a fetched page is not requested again for another message', async () => {
  const follower = await follow();
  const url = at('/popular');
  await follower.changesOf(await send(url));
  const again = await send(`once more ${url}#part`);
  const [event] = await follower.changesOf(again);
  expect(event?.rendered_content).toContain(embed(`${url}#part`, 'Page popular'));
  expect(asked.get('/popular')).toBe(1);
});

test('the text of a hostile page is shown as plain text', async () => {
  const url = at('/hostile');
  const [event] = await (await follow()).changesOf(await send(url));
  const title = "&lt;img src=x onerror=&quot;alert(1)&quot;&gt;&quot;'&amp;lt;";
  const description = '<div class="message_embed_description">&lt;/div&gt;&lt;script&gt;</div>';
  expect(event?.rendered_content).toBe(linkTo(url) + embed(url, title, description));
});

test('internal addresses are not fetched, not even after a redirect', async () => {
  const follower = await follow();
  const inside = `127.0.0.1:${portOf(internal)}`;
  const urls = [
    ...[inside, inside.replace('127.0.0.1', 'localhost'), inside.replace('127.0.0.1', '[::ffff:7f00:1]')],
    ...[inside.replace('127.0.0.1', '2130706433'), `u:p@127.0.0.2:${portOf(site)}`],
  ].map((host) => `[x](http://${host}/inside)`);
  const id = await send([...urls, at('/to-internal'), at('/to-page'), 'ftp://127.0.0.2/file', at('/text')].join(' '));
  const [event] = await follower.changesOf(id);
  expect(event?.rendered_content.split('message_embed"').length).toBe(2);
  expect(event?.rendered_content).toContain(`<a href="${at('/to-page')}" title="The title">The title</a>`);
  expect([asked.has('/inside'), asked.has('/secret')]).toEqual([false, false]);
});

test('only the beginning of an endless page is read, and a silent page delays the others only for a while', async () => {
  const follower = await follow();
  const id = await send([at('/silent'), at('/endless'), at('/missing.html')].join(' '));
  const [event] = await follower.changesOf(id);
  const [text] = event?.rendered_content.split('\n<div class="message_embed">', 1) ?? [];
  expect(event?.rendered_content).toBe(
    text + embed(at('/endless'), 'Without end') + embed(at('/missing.html'), 'Page missing.html'),
  );
});

test('a page whose name could not be resolved is shown when a name server responds', async () => {
  const follower = await follow();
  const url = `http://page.example:${portOf(site)}/named-later`;
  const id = await send(url);
  const postponed = () =>
    database.maybeOne(sql.type(z.object({ ms: z.number() }))`
      SELECT extract(epoch FROM taken_until - created_at)::float8 * 1000 AS ms FROM messaging.link_preview_job
      WHERE message_id = ${id} AND attempts = 0 AND taken_until > created_at`);
  const pauseAfter = async () => (await postponed())?.ms ?? 0;
  await expect.poll(pauseAfter).toBeGreaterThan(0);
  const first = await pauseAfter();
  await expect.poll(pauseAfter).toBeGreaterThan(first);
  expect(names.asked).toBeGreaterThan(1);
  expect(asked.has('/named-later')).toBe(false);
  names.isWell = true;
  const [event] = await follower.changesOf(id);
  expect(event?.rendered_content).toBe(linkTo(url) + embed(url, 'Page named-later'));
  expect(await jobs(id)).toBe(0);
});

test('quoted links, code, images, pages without an image and pages of the realm itself have no previews', async () => {
  const follower = await follow();
  const own = `${system.url}/some/page`;
  const others = `${at('/image.png')} ${at('/imageless')} ${own}`;
  const id = await send(`> ${at('/quoted')}\n\n\`${at('/code')}\` ${others} [x](${at('/named')})`);
  const [event] = await follower.changesOf(id);
  expect(event?.rendered_content.split('message_embed"').length).toBe(2);
  expect(event?.rendered_content).toContain(embed(at('/named'), 'Page named'));
  expect(['/quoted', '/code', '/image.png'].filter((path) => asked.has(path))).toEqual([]);
});

test('a realm without previews does not fetch pages', async () => {
  const follower = await follow();
  await wanted(false);
  const without = await send(at('/unwanted'));
  const waiting = await jobs(without);
  await wanted(true);
  expect(waiting).toBe(0);
  await follower.changesOf(await send(at('/wanted')));
  expect(asked.has('/unwanted')).toBe(false);
  expect(await shown(without)).toBe(linkTo(at('/unwanted')));
});

test('previews are not shown if the realm disabled them during the fetch', async () => {
  const { id, path } = await duringFetch(
    () => wanted(false),
    () => wanted(true),
  );
  await jobEnds(id);
  await wanted(true);
  expect(await shown(id)).toBe(linkTo(at(path)));
});

test('a message that is edited while its page is fetched gets the previews of its new text only', async () => {
  const follower = await follow();
  const { id } = await duringFetch((id) => ok(`PATCH /messages/${id}`, { content: at('/new') }));
  const changes = await follower.changesOf(id, 2);
  await jobEnds(id);
  expect(changes.map(({ rendering_only }) => rendering_only)).toEqual([false, true]);
  expect(await shown(id)).toBe(linkTo(at('/new')) + embed(at('/new'), 'Page new'));
  await ok(`PATCH /messages/${id}`, { content: 'no link' });
  expect(await follower.changesOf(id, 3)).toHaveLength(3);
  expect(await shown(id)).toBe('<p>no link</p>');
});

test('a message that is edited to another text without links while its page is fetched gets no preview', async () => {
  const { id } = await duringFetch((id) => ok(`PATCH /messages/${id}`, { content: 'no link' }));
  await jobEnds(id);
  expect(await shown(id)).toBe('<p>no link</p>');
});

test('a message that is deleted while its page is fetched stays deleted', async () => {
  const { id } = await duringFetch((id) => ok(`DELETE /messages/${id}`));
  await jobEnds(id);
  expect((await request(system.url, system.people.owner, `GET /messages/${id}`)).status).toBe(400);
});

test('a message that is moved while its page is fetched is announced at its new place', async () => {
  const follower = await follow(system.people.owner);
  await ok('POST /users/me/subscriptions', { subscriptions: [{ name: 'elsewhere' }] });
  const { stream_id } = await ok('GET /get_stream_id', { stream: 'elsewhere' });
  const { id } = await duringFetch((id) => ok(`PATCH /messages/${id}`, { stream_id }));
  const [, event] = await follower.changesOf(id, 2);
  expect(event).toMatchObject({ rendering_only: true, stream_id, stream_name: 'elsewhere' });
});

test('direct and scheduled messages have previews, and only their receivers get the event', async () => {
  const { member, owner } = system.people;
  const [receiver, other] = [await follow(member), await follow(system.people.guest)];
  const id = await send(at('/direct'), { type: 'direct', to: [member.user_id] });
  const [event] = await receiver.changesOf(id);
  expect(event?.rendered_content).toContain(embed(at('/direct'), 'Page direct'));
  expect(event).not.toHaveProperty('stream_id');
  const url = at('/scheduled');
  const form = { type: 'direct', to: [member.user_id, owner.user_id], content: url };
  await ok('POST /scheduled_messages', { ...form, scheduled_delivery_timestamp: Math.ceil(Date.now() / 1000) + 20 });
  const newest = async () => (await ok('GET /messages', { anchor: 'newest', num_before: 1, num_after: 0 })).messages[0];
  await expect.poll(async () => unsigned((await newest()).content)).toBe(linkTo(url) + embed(url, 'Page scheduled'));
  expect(await other.changesOf(id, 0)).toEqual([]);
});

test('two workers with the same job announce the message once', async () => {
  const follower = await follow();
  const { id, path } = await duringFetch(async (id, path) => {
    await database.run(sql.unsafe`
      UPDATE messaging.link_preview_job SET taken_until = '-infinity' WHERE message_id = ${id}`);
    await expect.poll(() => held.get(path)?.length).toBe(2);
  });
  await jobEnds(id);
  await follower.changesOf(await send(at('/after-twice')));
  expect(await follower.changesOf(id)).toHaveLength(1);
  expect(await shown(id)).toBe(linkTo(at(path)) + embed(at(path), `Page ${path.slice(1)}`));
});

test('another worker completes the job of a killed worker', async () => {
  const follower = await follow();
  const { id, path } = await beginFetch();
  for (const child of workers()) child.kill('SIGKILL');
  release(path);
  expect(await follower.changesOf(id)).toHaveLength(1);
  expect(await shown(id)).toBe(linkTo(at(path)) + embed(at(path), `Page ${path.slice(1)}`));
});

test('a page that does not respond while the process stands still is requested again', async () => {
  const follower = await follow();
  const { id, path } = await beginFetch();
  for (const child of workers()) child.kill('SIGSTOP');
  await new Promise((resolve) => setTimeout(resolve, 6_000)); // Longer than the time limit of a fetch.
  for (const child of workers()) child.kill('SIGCONT');
  await expect.poll(() => isAwaited(path)).toBe(false);
  release(path);
  const [event] = await follower.changesOf(id);
  expect(event?.rendered_content).toContain(embed(at(path), `Page ${path.slice(1)}`));
});

test('at most two jobs of a realm run in each of two processes', async () => {
  const silent = () => send(at(`/silent/${count++}`));
  const ids = [await silent()];
  await requested(`/silent/${count - 1}`);
  for (let i = 0; i < 7; i++) ids.push(await silent());
  let most = 0;
  for (let left = 1; left > 0; ) {
    const state = await database.one(sql.type(z.object({ left: z.number(), taken: z.number() }))`
      SELECT count(*)::int AS left, (count(*) FILTER (WHERE taken_until > now()))::int AS taken
      FROM messaging.link_preview_job WHERE message_id = ANY(${sql.array(ids, 'int8')})`);
    most = Math.max(most, state.taken);
    left = state.left;
  }
  expect(most).toBeLessThanOrEqual(4);
});

test('a person whose pages do not respond, and their bot, delay neither other people nor other realms', async () => {
  const host = 'neighbour.example';
  const args = ['realm', 'create', '--host', host, '--name', 'Neighbour', '--owner-email', `owner@${host}`, '--json'];
  const made = JSON.parse((await runNatter(await operatorSettings(system, dataDir), args)).printed);
  const neighbour = new Client({ url: system.url, host }, { ...made, full_name: 'Owner' });
  await neighbour.ok('PATCH', '/realm', { inline_url_embed_preview: true });
  const { owner, member } = system.people;
  await ok('POST /bots', { full_name: 'Linker', short_name: 'linker' });
  const [{ username, api_key }] = (await ok('GET /bots')).bots;
  const senders = [owner, { ...owner, email: username, api_key }];
  const ids: number[] = [];
  const pages = (i: number) => Array.from({ length: 24 }, (_, j) => at(`/silent/${i}/${j}`)).join(' ');
  for (let i = 0; i < 24; i++) ids.push(await send(pages(i), topic, senders[i % 2]));
  expect(new Set((await causesOf(ids)).map(({ caused_by }) => caused_by))).toEqual(new Set([owner.user_id]));
  const other = await send(at('/other'), topic, member);
  const { id } = await neighbour.ok('POST', '/messages', { type: 'direct', to: [made.user_id], content: at('/near') });
  const received = async () => unsigned((await neighbour.ok('GET', `/messages/${id}`)).message.content);
  await expect.poll(received).toContain(embed(at('/near'), 'Page near'));
  await expect.poll(() => shown(other)).toContain(embed(at('/other'), 'Page other'));
  // There are more jobs than may run at a time.
  expect((await causesOf(ids)).length).toBeGreaterThan(4);
});
