import { type Client, exchange, type Json, openRealm, RawSocket, type Realm } from '@natter/testkit';
import { beforeAll, expect, test } from 'vitest';
import { authorizationOf } from '../../api.ts';
import { untilServed } from '../../patience.ts';
import { pngOf } from '../upload.ts';

let realm: Realm;
beforeAll(async () => {
  realm = await openRealm();
});

const png = pngOf(64, 64, 2_000_000);
const refused = ({ status, body }: Json): Json => [status, body.code];

function upload(client: Client, path: string, file: Buffer, fields: Record<string, string> = {}) {
  const boundary = 'natter-boundary';
  const parts = Object.entries(fields).map(
    ([name, value]) => `--${boundary}\r\nContent-Disposition: form-data; name="${name}"\r\n\r\n${value}\r\n`,
  );
  const head = `${parts.join('')}--${boundary}\r\nContent-Disposition: form-data; name="picture.png"; filename="picture.png"\r\nContent-Type: image/png\r\n\r\n`;
  const body = Buffer.concat([Buffer.from(head), file, Buffer.from(`\r\n--${boundary}--\r\n`)]);
  const headers = {
    host: client.host,
    authorization: authorizationOf(client),
    'content-type': `multipart/form-data; boundary=${boundary}`,
  };
  return untilServed(() => exchange(`${client.url}/api/v1${path}`, 'POST', body, headers));
}

const size = async (path: string): Promise<[number, string, number]> => {
  const { status, headers } = await realm.spectator.get(`/${path}`);
  return [status, String(headers['content-type']), Number(headers['content-length'])];
};

test('a custom emoji of two megabytes can be uploaded, listed, served and deactivated, with events', async () => {
  const queue = await realm.guest.queue({ event_types: ['realm_emoji'] });
  expect((await upload(realm.member, '/realm/emoji/My%20Party-Parrot', png)).body).toMatchObject({ result: 'success' });
  const { emoji } = await realm.guest.ok('GET', '/realm/emoji');
  const [record] = Object.values(emoji) as [Json];
  expect(record).toEqual({
    id: expect.any(String),
    name: 'my_party-parrot',
    source_url: expect.any(String),
    still_url: null,
    deactivated: false,
    author_id: realm.member.user_id,
  });
  expect((await queue.next(() => true)).realm_emoji).toEqual(emoji);
  expect(await size(record.source_url)).toEqual([200, 'image/png', png.length]);
  expect(refused(await realm.member2.delete('/realm/emoji/my_party-parrot'))).toEqual([400, 'BAD_REQUEST']);
  await realm.member.ok('DELETE', '/realm/emoji/my_party-parrot');
  expect((await queue.next((event) => event.realm_emoji[record.id].deactivated)).op).toBe('update');
  expect((await upload(realm.owner, '/realm/emoji/my_party-parrot', png)).status).toBe(200);
});

test('invalid, large or duplicate emoji, Unicode names by members and uploads by guests are rejected', async () => {
  for (const name of ['ends-', 'ends_', 'd%C3%A9j%C3%A0', 'a.b'])
    expect(refused(await upload(realm.owner, `/realm/emoji/${name}`, png)), name).toEqual([400, 'BAD_REQUEST']);
  expect(refused(await upload(realm.owner, '/realm/emoji/text', Buffer.from('<svg onload="x">')))).toEqual([
    400,
    'BAD_IMAGE',
  ]);
  expect(refused(await upload(realm.owner, '/realm/emoji/bomb', pngOf(50_000, 50_000)))).toEqual([400, 'BAD_IMAGE']);
  const large = Buffer.concat([png, Buffer.alloc(4_000_000)]);
  expect(refused(await upload(realm.owner, '/realm/emoji/large', large))).toEqual([400, 'BAD_REQUEST']);
  expect((await upload(realm.owner, '/realm/emoji/twice', png)).status).toBe(200);
  expect(refused(await upload(realm.owner, '/realm/emoji/twice', png))).toEqual([400, 'BAD_REQUEST']);
  expect(refused(await upload(realm.member, '/realm/emoji/smile', png))).toEqual([400, 'BAD_REQUEST']);
  expect((await upload(realm.administrator, '/realm/emoji/smile', png)).status).toBe(200);
  expect(refused(await upload(realm.guest, '/realm/emoji/guest', png))).toEqual([400, 'BAD_REQUEST']);
});

test('a custom emoji overrides the standard emoji of its name in messages and reactions', async () => {
  expect((await upload(realm.administrator, '/realm/emoji/octopus', png)).status).toBe(200);
  const { emoji } = await realm.guest.ok('GET', '/realm/emoji');
  const own = Object.values<Json>(emoji).find((one) => one.name === 'octopus');
  const { id } = await realm.member.ok('POST', '/messages', {
    type: 'direct',
    to: [realm.member2.user_id],
    content: ':octopus:',
  });
  // The projection that messages are rendered with follows later.
  await expect
    .poll(async () => (await realm.member.ok('POST', '/messages/render', { content: ':octopus:' })).rendered)
    .toBe(`<p><img alt=":octopus:" class="emoji" src="${own?.source_url}" title="octopus"></p>`);
  await realm.member2.ok('POST', `/messages/${id}/reactions`, { emoji_name: 'octopus' });
  const { message } = await realm.member.ok('GET', `/messages/${id}`);
  expect(message.reactions).toMatchObject([{ emoji_code: own?.id, reaction_type: 'realm_emoji' }]);
});

test('administrators can upload and remove the icon and the logos, which are served and sent in update_dict', async () => {
  const queue = await realm.guest.queue({ event_types: ['realm'] });
  expect(refused(await upload(realm.member, '/realm/icon', png))).toEqual([400, 'BAD_REQUEST']);
  const { icon_url } = (await upload(realm.administrator, '/realm/icon', png)).body;
  expect(await queue.next(() => true)).toMatchObject({
    op: 'update_dict',
    property: 'icon',
    data: { icon_url, icon_source: 'U' },
  });
  const { pathname, search } = new URL(icon_url);
  expect(await size(pathname + search)).toEqual([200, 'image/png', png.length]);
  expect((await realm.spectator.ok('GET', '/server_settings')).realm_icon).toBe(icon_url);
  expect((await upload(realm.owner, '/realm/logo', png, { night: 'true' })).status).toBe(200);
  expect(await queue.next((event) => event.property === 'night_logo')).toMatchObject({
    data: { night_logo_source: 'U' },
  });
  const state = await realm.member.ok('POST', '/register', { fetch_event_types: ['realm'] });
  expect([state.realm_icon_source, state.realm_logo_source, state.realm_night_logo_source]).toEqual(['U', 'D', 'U']);
  await realm.owner.ok('DELETE', '/realm/icon');
  await realm.owner.ok('DELETE', '/realm/logo', { night: true });
  await queue.next((event) => event.property === 'night_logo' && event.data.night_logo_source === 'D');
  expect((await size(pathname))[0]).toBe(404);
});

test('clients with individual_emoji_changes receive only the emoji that changed', async () => {
  const client_capabilities = { individual_emoji_changes: true };
  const queue = await realm.guest.queue({ event_types: ['realm_emoji'], client_capabilities });
  await upload(realm.member, '/realm/emoji/alone', png);
  const { emoji } = await realm.guest.ok('GET', '/realm/emoji');
  const added = Object.values<Json>(emoji).find((one) => one.name === 'alone');
  await realm.member.ok('DELETE', '/realm/emoji/alone');
  await queue.next(({ op }) => op === 'update_one');
  expect(queue.seen.map(({ id, ...event }) => event)).toEqual([
    { type: 'realm_emoji', op: 'add', emoji: added },
    { type: 'realm_emoji', op: 'update_one', emoji_id: added.id, data: { deactivated: true } },
  ]);
});

/** Sends a request of which only the headers arrive, and returns the answer. */
async function answerToHeaders(client: Client, path: string, bytes: number) {
  const socket = await RawSocket.open(client.url);
  socket.send(
    `POST /api/v1${path} HTTP/1.1\r\nHost: ${realm.host}\r\nAuthorization: ${authorizationOf(client)}\r\nContent-Type: multipart/form-data; boundary=b\r\nContent-Length: ${bytes}\r\n\r\n`,
  );
  const { status, json } = await socket.answer();
  socket.destroy();
  return [status, json.msg];
}

test('a file of a user who may not upload it is rejected before its body is received', async () => {
  const path = '/realm/icon';
  const refusal = [400, 'Must be an organization administrator'];
  expect(await answerToHeaders(realm.guest, path, 26 * 1024 * 1024)).toEqual(refusal);
  expect(await answerToHeaders(realm.member, path, 5 * 1024 * 1024)).toEqual(refusal);
  // The role counts from the moment when it was given.
  await realm.owner.ok('PATCH', `/users/${realm.member2.user_id}`, { role: 200 });
  expect((await upload(realm.member2, path, png)).status).toBe(200);
});

test('a file above the limit of its parameter is rejected before its body is received', async () => {
  const refusal = [400, 'Uploaded file is larger than the allowed limit of 8 MiB'];
  for (const path of ['/realm/icon', '/realm/logo', '/realm/emoji/any', '/users/me/avatar'])
    expect([path, await answerToHeaders(realm.administrator, path, 12 * 1024 * 1024)]).toEqual([path, refusal]);
});
