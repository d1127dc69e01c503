import { createHash, randomBytes } from 'node:crypto';
import { request } from 'node:http';
import { type Client, exchange, type Json, openRealm, type Realm } from '@natter/testkit';
import { beforeAll, expect, test } from 'vitest';
import { authorizationOf } from '../../api.ts';
import { untilServed } from '../../patience.ts';
import { upload, uploadText } from './upload.ts';

let realm: Realm;
let open: number;
let closed: number;
let web: number;

beforeAll(async () => {
  realm = await openRealm();
  await realm.owner.ok('PATCH', '/realm', { enable_spectator_access: true });
  const { member, member2 } = realm;
  const create = async (form: Json): Promise<number> => (await realm.owner.ok('POST', '/channels/create', form)).id;
  open = await create({ name: 'open', subscribers: [member.user_id] });
  closed = await create({ name: 'closed', subscribers: [member.user_id, member2.user_id], invite_only: true });
  web = await create({ name: 'web', subscribers: [member.user_id], is_web_public: true });
});

const send = async (to: number, content: string, who: Client = realm.member): Promise<number> =>
  (await who.ok('POST', '/messages', { type: 'channel', to, topic: 'files', content })).id;
const direct = async (to: Client, content: string, who: Client = realm.member): Promise<number> =>
  (await who.ok('POST', '/messages', { type: 'direct', to: [to.user_id], content })).id;
const statusFor = async (who: Client, url: string): Promise<number> => (await who.get(`/${url}`)).status;
const isAttachment = (op: string) => (event: Json) => event.type === 'attachment' && event.op === op;
const mine = async (who: Client): Promise<Json[]> => (await who.ok('GET', '/attachments')).attachments;

/** The bytes of a page. */
const bytesOf = (
  who: Client,
  url: string,
  headers: Record<string, string> = {},
): Promise<{ status: number; headers: Json; bytes: Buffer }> =>
  new Promise((resolve, reject) => {
    const authorization = authorizationOf(who);
    request(
      `${who.url}${url}`,
      { headers: { host: who.host, ...(who.email ? { authorization } : {}), ...headers } },
      (answer) => {
        const chunks: Buffer[] = [];
        answer.on('data', (chunk: Buffer) => chunks.push(chunk));
        answer.on('end', () =>
          resolve({ status: answer.statusCode ?? 0, headers: answer.headers, bytes: Buffer.concat(chunks) }),
        );
      },
    )
      .on('error', reject)
      .end();
  });

test('a file of 25 MiB is uploaded, listed and served unchanged, and one byte more is rejected', async () => {
  const { owner: who } = await openRealm();
  const bytes = randomBytes(25 * 1024 * 1024);
  const queue = await who.queue({ event_types: ['attachment', 'message'] });
  const { status, body } = await upload(who, { name: 'Große Datei.bin', bytes });
  expect(status).toBe(200);
  expect(body).toMatchObject({ result: 'success', filename: 'Große Datei.bin', uri: body.url });
  expect(body.url).toMatch(/^\/user_uploads\/\d+\/[0-9a-f]{2}\/[\w-]{20,}\/Große-Datei\.bin$/);
  const attachment = {
    id: expect.any(Number),
    name: 'Große Datei.bin',
    path_id: body.url.slice('/user_uploads/'.length),
    size: bytes.length,
    create_time: expect.any(Number),
    messages: [],
  };
  expect(await queue.next(isAttachment('add'))).toMatchObject({ attachment, upload_space_used: bytes.length });
  expect(await who.ok('GET', '/attachments')).toMatchObject({
    attachments: [attachment],
    upload_space_used: bytes.length,
  });
  const url = encodeURI(body.url);
  const whole = await bytesOf(who, url);
  const sum = (data: Buffer): string => createHash('sha256').update(data).digest('hex');
  expect([whole.status, whole.bytes.length, sum(whole.bytes)]).toEqual([200, bytes.length, sum(bytes)]);
  const part = await bytesOf(who, url, { range: 'bytes=1000000-1999999' });
  expect([part.status, part.headers['content-range']]).toEqual([206, `bytes 1000000-1999999/${bytes.length}`]);
  expect(sum(part.bytes)).toBe(sum(bytes.subarray(1_000_000, 2_000_000)));
  const over = await upload(who, { name: 'over.bin', bytes: Buffer.concat([bytes, Buffer.from('x')]) });
  expect([over.status, over.body.code, over.body.msg]).toEqual([
    400,
    'BAD_REQUEST',
    'Uploaded file is larger than the allowed limit of 25 MiB',
  ]);
  const full = await upload(who, { name: 'more.bin', bytes: bytes.subarray(0, 16 * 1024 * 1024) });
  expect([full.status, full.body.code]).toEqual([400, 'REALM_UPLOAD_QUOTA']);
  expect((await who.ok('GET', '/attachments')).upload_space_used).toBe(bytes.length);
  expect(await who.ok('POST', '/register', { fetch_event_types: ['realm'] })).toMatchObject({
    max_file_upload_size_mib: 25,
    realm_upload_quota_mib: 40,
  });
});

test('a file far above the limit gets an error response instead of a closed connection', async () => {
  const { status, body } = await upload(realm.member, { name: 'far.bin', bytes: Buffer.alloc(30 * 1024 * 1024) });
  expect([status, body.code]).toEqual([400, 'BAD_REQUEST']);
});

test('a part without a type gets the type of its file extension', async () => {
  for (const [name, type] of [
    ['a.png', 'image/png'],
    ['a.pdf', 'application/pdf'],
    ['a.txt', 'text/plain; charset=utf-8'],
    ['a', 'application/octet-stream'],
  ] as const) {
    const { body } = await upload(realm.member, { name, bytes: Buffer.from('x') });
    expect((await bytesOf(realm.member, body.url)).headers['content-type']).toBe(type);
  }
});

test('a file can be read with an API key in its URL, with the access of the user of the key', async () => {
  const url = await uploadText(realm.member, 'by key');
  const withKey = (key: string) => statusFor(realm.spectator, `${url}?api_key=${key}`);
  expect(await Promise.all([realm.member.api_key, realm.guest.api_key, 'x'.repeat(32), 'x'].map(withKey))).toEqual([
    200, 404, 401, 401,
  ]);
});

test('an upload must contain exactly one file', async () => {
  const file = { name: 'a.txt', bytes: Buffer.from('a') };
  const none = await realm.member.post('/user_uploads');
  expect([none.status, none.body.code]).toEqual([400, 'BAD_REQUEST']);
  const two = await upload(realm.member, file, { ...file, name: 'b.txt' });
  expect([two.status, two.body.code]).toEqual([400, 'BAD_REQUEST']);
  expect((await upload(realm.guest, file)).status).toBe(200);
});

test('a file is visible to its owner and to users who may read a message that refers to it', async () => {
  const url = await uploadText(realm.member, 'for the closed channel');
  const { owner, member, member2, guest, spectator } = realm;
  const all = async () => Promise.all([member, member2, owner, guest, spectator].map((who) => statusFor(who, url)));
  expect(await all()).toEqual([200, 404, 404, 404, 404]);
  const id = await send(closed, `see [notes](${url})`);
  // The owner of the realm created the channel, and is subscribed to it.
  expect((await all()).slice(0, 2)).toEqual([200, 200]);
  expect((await all()).slice(3)).toEqual([404, 404]);
  const stranger = await realm.person();
  expect(await statusFor(stranger, url)).toBe(404);
  await member.ok('DELETE', `/messages/${id}`);
  expect(await statusFor(member2, url)).toBe(404);
  await direct(stranger, `see ${url}`);
  expect([await statusFor(stranger, url), await statusFor(member2, url)]).toEqual([200, 404]);
  await send(open, `see ${url}`);
  expect([await statusFor(member2, url), await statusFor(guest, url)]).toEqual([200, 404]);
  await send(web, `see ${url}`);
  expect([await statusFor(guest, url), await statusFor(spectator, url)]).toEqual([200, 200]);
});

test('users who left a private channel, or for whom its history is protected, cannot read its files', async () => {
  const url = await uploadText(realm.member, 'history');
  await send(closed, `see ${url}`);
  expect(await statusFor(realm.member2, url)).toBe(200);
  await realm.member2.ok('DELETE', '/users/me/subscriptions', { subscriptions: ['closed'] });
  expect(await statusFor(realm.member2, url)).toBe(404);
  const late = await realm.person();
  await realm.member.ok('POST', '/users/me/subscriptions', {
    subscriptions: [{ name: 'closed' }],
    principals: [late.user_id, realm.member2.user_id],
  });
  expect(await statusFor(late, url)).toBe(404);
});

test('a file of a private channel that only a permission opens can be shared by a user who may read it there', async () => {
  const { owner, member, member2, moderator } = realm;
  const { id: to } = await owner.ok('POST', '/channels/create', {
    name: 'by permission',
    subscribers: [member.user_id],
    invite_only: true,
    history_public_to_subscribers: true,
    can_subscribe_group: { direct_members: [member2.user_id], direct_subgroups: [] },
  });
  const urls = await Promise.all(['one', 'two', 'three', 'four'].map((text) => uploadText(member, text)));
  const [sent, edited, busy, hidden] = urls as [string, string, string, string];
  await send(to, `see ${sent} ${edited}`);
  // More messages than are read for one text.
  for (let count = 0; count < 20; count++) await send(to, `again ${busy}`);
  await direct(owner, `see ${hidden}`);
  const statuses = () => Promise.all(urls.map((url) => statusFor(moderator, url)));
  expect(await statuses()).toEqual([404, 404, 404, 404]);
  await send(open, `look ${busy} ${sent} ${hidden}`, member2);
  expect(await statuses()).toEqual([200, 404, 200, 404]);
  const id = await send(open, 'x', member2);
  await member2.ok('PATCH', `/messages/${id}`, { content: `look ${edited} ${hidden}` });
  expect(await statuses()).toEqual([200, 200, 200, 404]);
});

test('a message does not give access to a file that its sender may not see', async () => {
  const url = await uploadText(realm.member, 'secret');
  await send(open, `look ${url}`, realm.owner);
  expect(await statusFor(realm.owner, url)).toBe(404);
  const [attachment] = await mine(realm.member);
  expect(attachment.messages).toEqual([]);
});

test('the owner of a file receives an event when a message refers to it, or no longer does', async () => {
  const url = await uploadText(realm.member, 'told');
  const queue = await realm.member.queue({ event_types: ['attachment', 'message'] });
  const id = await send(open, `see ${url}`);
  const event = await queue.next(isAttachment('update'));
  expect(event.attachment.messages).toEqual([{ id, date_sent: expect.any(Number) }]);
  expect(event.attachment.path_id).toBe(url.slice('/user_uploads/'.length));
  expect(Math.abs(event.attachment.messages[0].date_sent - Date.now())).toBeLessThan(60_000);
  const narrow = [['has', 'attachment']];
  const found = await realm.member.ok('GET', '/messages', { anchor: 'newest', num_before: 1, num_after: 0, narrow });
  expect(found.messages.map((message: Json) => message.id)).toEqual([id]);
  const kept = await realm.member.ok('PATCH', `/messages/${id}`, { content: `still ${url}` });
  expect(kept.detached_uploads).toEqual([]);
  const detached = await realm.member.ok('PATCH', `/messages/${id}`, { content: 'gone' });
  expect(detached.detached_uploads).toEqual([{ ...event.attachment, messages: [] }]);
  expect((await queue.next(isAttachment('update'))).attachment.messages).toEqual([]);
  await realm.member.ok('PATCH', `/messages/${id}`, { content: `again ${url}` });
  expect((await queue.next(isAttachment('update'))).attachment.messages).toEqual(event.attachment.messages);
  await realm.member.ok('DELETE', `/messages/${id}`);
  expect((await queue.next(isAttachment('update'))).attachment.messages).toEqual([]);
});

test('only its owner can delete a file, which removes it for all users and sends an event', async () => {
  const url = await uploadText(realm.member, 'to go');
  await send(open, `see ${url}`);
  const [attachment] = await mine(realm.member);
  const before = (await realm.member.ok('GET', '/attachments')).upload_space_used;
  for (const id of [attachment.id, 999_999_999]) {
    const { status, body } = await realm.owner.delete(`/attachments/${id}`);
    expect([status, body.code, body.msg]).toEqual([400, 'BAD_REQUEST', 'Invalid attachment']);
  }
  const queue = await realm.member.queue({ event_types: ['attachment', 'message'] });
  await realm.member.ok('DELETE', `/attachments/${attachment.id}`);
  expect(await queue.next(isAttachment('remove'))).toMatchObject({
    attachment: { id: attachment.id },
    upload_space_used: before - attachment.size,
  });
  expect(await statusFor(realm.member, url)).toBe(404);
  expect((await mine(realm.member)).map((one) => one.id)).not.toContain(attachment.id);
});

test('a temporary URL works without authentication, and is available only to users who may see the file', async () => {
  const url = await uploadText(realm.member, 'shared for a minute');
  const [, , realmId, ...rest] = url.split('/');
  const asked = [`/user_uploads/${realmId}/${rest.join('/')}`, `/user_uploads/${realmId}/${rest.join('%2F')}`];
  for (const path of asked) {
    const { url: temporary } = await realm.member.ok('GET', path);
    const answer = await bytesOf(realm.spectator, temporary);
    expect([answer.status, answer.bytes.toString()]).toEqual([200, 'shared for a minute']);
    const [id, until, signature] = temporary.split('/')[3].split('-');
    // The clock of Redis may be slightly ahead of this one.
    expect(Number(until) * 1000 - Date.now()).toBeLessThanOrEqual(61_000);
    const forged = temporary.replace(`${id}-${until}-${signature}`, `${id}-${Number(until) + 600}-${signature}`);
    expect((await bytesOf(realm.spectator, forged)).status).toBe(404);
    expect((await realm.owner.get(path)).status).toBe(404);
  }
  expect((await realm.member.get(`/user_uploads/${realmId}/ab/${'x'.repeat(24)}/notes.txt`)).status).toBe(404);
});

test('images are shown, and files that could contain scripts are downloaded as application/octet-stream', async () => {
  const served = async (name: string, type: string): Promise<Json> => {
    const { body } = await upload(realm.member, { name, type, bytes: Buffer.from('<script>alert(1)</script>') });
    return (await bytesOf(realm.member, body.url)).headers;
  };
  const picture = await served('a.png', 'image/png');
  expect([picture['content-type'], picture['content-disposition']]).toEqual(['image/png', undefined]);
  for (const [name, type] of [
    ['a.html', 'text/html'],
    ['a.svg', 'image/svg+xml'],
    ['a.xml', 'application/xml'],
    ['a.js', 'text/javascript'],
    ['a.xhtml', 'application/xhtml+xml'],
  ] as const) {
    const headers = await served(name, type);
    expect([headers['content-type'], headers['content-disposition']]).toEqual([
      'application/octet-stream',
      `attachment; filename*=UTF-8''${name}`,
    ]);
    expect(headers['x-content-type-options']).toBe('nosniff');
  }
});

test('an upload that is repeated with the same key creates one file', async () => {
  const who = await realm.person();
  const send = () => {
    const boundary = 'b';
    const body = `--${boundary}\r\nContent-Disposition: form-data; name="file"; filename="once.txt"\r\n\r\nonce\r\n--${boundary}--\r\n`;
    return untilServed(() =>
      exchange(`${who.url}/api/v1/user_uploads`, 'POST', body, {
        host: who.host,
        authorization: authorizationOf(who),
        'content-type': `multipart/form-data; boundary=${boundary}`,
        'idempotency-key': 'upload-once',
      }),
    );
  };
  const [first, second] = [await send(), await send()];
  expect(second.body).toEqual(first.body);
  expect(await mine(who)).toHaveLength(1);
});

test('an uploaded image has a preview', async () => {
  const { body } = await upload(realm.member, { name: 'cat.png', type: 'image/png', bytes: Buffer.from('png') });
  const id = await send(open, `[cat](${body.url})`);
  const { message } = await realm.member.ok('GET', `/messages/${id}`);
  expect(message.content).toBe(
    `<p><a href="${body.url}">cat</a></p>\n<div class="message_inline_image"><a href="${body.url}" title="cat"><img src="${body.url}"></a></div>`,
  );
});

test('a file of another realm cannot be read', async () => {
  const other = await openRealm();
  const url = await uploadText(realm.member, 'ours');
  await send(web, `see ${url}`);
  expect(await statusFor(other.owner, url)).toBe(404);
  expect((await other.owner.get(`/${url}`.replace('//', '/'))).status).toBe(404);
});

test('a file extension may be the name of a built-in property', async () => {
  const { status, body } = await upload(realm.member, { name: 'notes.constructor', bytes: Buffer.from('x') });
  expect(status).toBe(200);
  const { headers } = await bytesOf(realm.member, body.url);
  expect(headers['content-type']).toBe('application/octet-stream');
});
