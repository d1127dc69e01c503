import { randomBytes } from 'node:crypto';
import { Client, connected, countOf, exchange, type Json, openRealm, type Realm } from '@natter/testkit';
import { beforeAll, expect, test } from 'vitest';
import { untilServed } from '../../patience.ts';
import { Browser } from '../browser.ts';
import { append, begin, create, download, fileType, metadataOf, offsetOf, tus } from './tus.ts';
import { upload } from './upload.ts';

const mib = 1024 * 1024;
const chunk = 192 * 1024;
let realm: Realm;
let who: Client;

beforeAll(async () => {
  realm = await openRealm();
  who = realm.member;
});

const filesOf = async (client: Client): Promise<Json[]> => (await client.ok('GET', '/attachments')).attachments;
const idOf = (path: string): string => path.split('/').at(-1) ?? '';
const expire = (path: string) =>
  connected((client) =>
    client.query("UPDATE messaging.resumable_upload SET expires_at = now() - interval '1 second' WHERE id = $1", [
      idOf(path),
    ]),
  );
const keyOf = (path: string): Promise<string> =>
  connected(async (client) => {
    const { rows } = await client.query('SELECT file_key FROM messaging.resumable_upload WHERE id = $1', [idOf(path)]);
    return rows[0].file_key;
  });

test('a file that arrives in parts of any size becomes one attachment and is served unchanged', async () => {
  const { owner } = await openRealm();
  const queue = await owner.queue({ event_types: ['attachment', 'message'] });
  const bytes = randomBytes(2 * chunk + 12_345);
  const metadata = metadataOf({ filename: 'Große Datei.png', filetype: 'image/png' });
  const path = await create(owner, bytes.length, { 'upload-metadata': metadata });
  expect(path).toMatch(/^\/api\/v1\/tus\/[\w-]+$/);
  const sizes = [1, 99_999, chunk, 7, 50_000];
  let offset = 0;
  for (const size of sizes) {
    const { status, headers, body } = await append(owner, path, {
      offset,
      bytes: bytes.subarray(offset, offset + size),
    });
    offset += size;
    expect([status, body, headers['upload-offset']]).toEqual([204, '', String(offset)]);
    expect(headers['tus-resumable']).toBe('1.0.0');
    expect(Date.parse(String(headers['upload-expires']))).toBeGreaterThan(Date.now());
  }
  expect(await filesOf(owner)).toEqual([]);
  const known = await tus(owner, 'HEAD', path);
  expect([known.status, known.headers['upload-offset'], known.headers['upload-length']]).toEqual([
    200,
    String(offset),
    String(bytes.length),
  ]);
  expect([known.headers['upload-metadata'], known.headers['cache-control']]).toEqual([
    metadata,
    expect.stringContaining('no-store'),
  ]);
  const last = await append(owner, path, { offset, bytes: bytes.subarray(offset) });
  expect(last.status).toBe(200);
  expect(last.body).toMatchObject({ result: 'success', msg: '', filename: 'Große Datei.png' });
  expect(last.body.url).toMatch(/^\/user_uploads\/\d+\/[0-9a-f]{2}\/[\w-]{20,}\/Große-Datei\.png$/);
  const attachment = {
    id: expect.any(Number),
    name: 'Große Datei.png',
    path_id: last.body.url.slice('/user_uploads/'.length),
    size: bytes.length,
    create_time: expect.any(Number),
    messages: [],
  };
  const told = await queue.next(({ type, op }) => type === 'attachment' && op === 'add');
  expect(told).toMatchObject({ attachment, upload_space_used: bytes.length });
  expect(await filesOf(owner)).toEqual([attachment]);
  expect((await download(owner, last.body.url)).equals(bytes)).toBe(true);
  // A client that lost the last answer asks again.
  const again = await append(owner, path, { offset: bytes.length, bytes: Buffer.alloc(0) });
  expect([again.status, again.body.url]).toEqual([200, last.body.url]);
  expect((await owner.ok('GET', path)).url).toBe(last.body.url);
  expect(await filesOf(owner)).toHaveLength(1);
});

test('OPTIONS returns the supported protocol and its limits', async () => {
  const { status, headers } = await tus(who, 'OPTIONS', '/api/v1/tus/');
  expect(status).toBe(204);
  expect(headers).toMatchObject({
    'tus-resumable': '1.0.0',
    'tus-version': '1.0.0',
    'tus-extension': 'creation,creation-with-upload,expiration,termination',
    'tus-max-size': String(25 * mib),
  });
});

test('an upload can be created with its data, and an empty one is complete at once', async () => {
  const bytes = randomBytes(1_000);
  const named = { 'upload-metadata': metadataOf({ filename: 'now.bin' }) };
  const made = await tus(who, 'POST', '/api/v1/tus', {
    headers: { 'upload-length': '1000', 'content-type': fileType, ...named },
    body: bytes,
  });
  expect([made.status, made.headers['upload-offset'], made.body.filename]).toEqual([201, '1000', 'now.bin']);
  expect((await download(who, made.body.url)).equals(bytes)).toBe(true);
  const part = { 'upload-length': '3000', 'content-type': fileType };
  const begun = await tus(who, 'POST', '/api/v1/tus', { headers: part, body: bytes });
  expect([begun.status, begun.headers['upload-offset'], begun.body.url]).toEqual([201, '1000', undefined]);
  const empty = await tus(who, 'POST', '/api/v1/tus', { headers: { 'upload-length': '0' } });
  expect([empty.status, empty.body.filename]).toEqual([201, 'uploaded-file']);
  expect((await download(who, empty.body.url)).length).toBe(0);
});

test('a creation with data that is repeated under its key continues the same upload', async () => {
  const { owner } = await openRealm();
  const bytes = randomBytes(3_000);
  const post = (key: string, part: Buffer) => {
    const headers = { 'upload-length': '3000', 'content-type': fileType, 'idempotency-key': key };
    return tus(owner, 'POST', '/api/v1/tus', { headers, body: part });
  };
  const first = await post('parts', bytes.subarray(0, 1_000));
  const again = await post('parts', bytes.subarray(0, 1_000));
  const { location } = first.headers;
  expect([again.status, again.headers.location, again.headers['upload-offset']]).toEqual([201, location, '1000']);
  const done = await append(owner, String(location), { offset: 1_000, bytes: bytes.subarray(1_000) });
  expect((await download(owner, done.body.url)).equals(bytes)).toBe(true);
  const whole = await post('whole', bytes);
  const repeated = await post('whole', bytes);
  expect([repeated.status, repeated.body]).toEqual([201, whole.body]);
  expect(await filesOf(owner)).toHaveLength(2);
});

test('data that arrived before a connection broke is kept, and the upload continues after it', async () => {
  const bytes = randomBytes(chunk + 50_000);
  const path = await create(who, bytes.length);
  const { cut } = begin(who, path, { offset: 0, announced: bytes.length, bytes: bytes.subarray(0, chunk + 20_000) });
  await expect.poll(() => offsetOf(who, path)).toBeGreaterThanOrEqual(chunk);
  cut();
  await expect.poll(() => offsetOf(who, path)).toBe(chunk + 20_000);
  const { status, body } = await append(who, path, { offset: chunk + 20_000, bytes: bytes.subarray(chunk + 20_000) });
  expect(status).toBe(200);
  expect((await download(who, body.url)).equals(bytes)).toBe(true);
});

test('of concurrent requests that continue an upload, one succeeds', async () => {
  const bytes = randomBytes(10_000);
  const path = await create(who, 20_000);
  const answers = await Promise.all(Array.from({ length: 8 }, () => append(who, path, { offset: 0, bytes })));
  expect(answers.map(({ status }) => status).sort()).toEqual([204, 409, 409, 409, 409, 409, 409, 409]);
  expect(await offsetOf(who, path)).toBe(10_000);
  const { status, body } = await append(who, path, { offset: 10_000, bytes });
  expect(status).toBe(200);
  expect((await download(who, body.url)).equals(Buffer.concat([bytes, bytes]))).toBe(true);
  expect((await filesOf(who)).filter(({ size }) => size === 20_000)).toHaveLength(1);
});

test('only its owner can see, continue or delete an upload', async () => {
  const path = await create(who, 10);
  const other = await openRealm();
  for (const stranger of [realm.owner, realm.member2, other.owner])
    for (const method of ['HEAD', 'GET', 'PATCH', 'DELETE']) {
      const headers = { 'upload-offset': '0', 'content-type': fileType };
      expect([
        method,
        (await tus(stranger, method, path, { headers: method === 'PATCH' ? headers : {} })).status,
      ]).toEqual([method, 404]);
    }
  expect((await tus(realm.spectator, 'HEAD', path)).status).toBe(401);
  expect(await offsetOf(who, path)).toBe(0);
  for (const id of ['none', 'x'.repeat(100), '%00', '..%2F..', '%F0%9F%98%80'])
    expect([400, 404]).toContain((await tus(who, 'HEAD', `/api/v1/tus/${id}`)).status);
});

test('a deleted or expired upload does not exist, and its data is deleted', async () => {
  const { owner } = await openRealm();
  const chunksOf = (key: string): Promise<number> => countOf('messaging.file_chunk', `key = '${key}'`);
  const ended = await create(owner, 10 * mib);
  const endedKey = await keyOf(ended);
  expect((await append(owner, ended, { offset: 0, bytes: randomBytes(1_000) })).status).toBe(204);
  expect(await chunksOf(endedKey)).toBe(1);
  const answer = await tus(owner, 'DELETE', ended);
  expect([answer.status, answer.body, answer.headers['tus-resumable']]).toEqual([204, '', '1.0.0']);
  expect((await tus(owner, 'HEAD', ended)).status).toBe(404);
  expect((await append(owner, ended, { offset: 1_000, bytes: randomBytes(10) })).status).toBe(404);
  expect(await chunksOf(endedKey)).toBe(0);
  const late = await create(owner, 10 * mib);
  const lateKey = await keyOf(late);
  expect((await append(owner, late, { offset: 0, bytes: randomBytes(1_000) })).status).toBe(204);
  await expire(late);
  for (const method of ['HEAD', 'DELETE']) expect((await tus(owner, method, late)).status).toBe(404);
  expect((await append(owner, late, { offset: 1_000, bytes: randomBytes(10) })).status).toBe(404);
  // The next creation makes the server look for expired uploads; their data is deleted in the background.
  const left = async (): Promise<number[]> => {
    await tus(owner, 'DELETE', await create(owner, 1));
    return [await chunksOf(lateKey), await countOf('messaging.file', `key = '${lateKey}'`)];
  };
  await expect.poll(left).toEqual([0, 0]);
});

test('a creation does not wait for the data of expired uploads', async () => {
  const { owner } = await openRealm();
  const late = await create(owner, 10 * mib);
  const key = await keyOf(late);
  await append(owner, late, { offset: 0, bytes: randomBytes(1_000) });
  await expire(late);
  await connected(async (client) => {
    await client.query('BEGIN');
    // Nobody can delete the data.
    await client.query('SELECT FROM messaging.file_chunk WHERE key = $1 FOR UPDATE', [key]);
    expect(await create(owner, 1)).toMatch(/tus/);
    await client.query('ROLLBACK');
  });
});

test('deleting a complete upload keeps its file', async () => {
  const made = await tus(who, 'POST', '/api/v1/tus', {
    headers: { 'upload-length': '4', 'content-type': fileType },
    body: 'kept',
  });
  const path = String(made.headers.location);
  expect((await tus(who, 'DELETE', path)).status).toBe(204);
  expect((await download(who, made.body.url)).toString()).toBe('kept');
});

test('only data that arrived of unfinished uploads counts against the quota', async () => {
  const { owner, member, member2 } = await openRealm();
  // Together they declare far more than the quota of 40 MiB.
  for (let n = 0; n < 10; n++) await create(member, 25 * mib);
  const first = await create(owner, 20 * mib);
  expect((await append(owner, first, { offset: 0, bytes: Buffer.alloc(19 * mib) })).status).toBe(204);
  const second = await create(member2, 20 * mib);
  expect((await append(member2, second, { offset: 0, bytes: Buffer.alloc(15 * mib) })).status).toBe(204);
  const full = await tus(owner, 'POST', '/api/v1/tus', { headers: { 'upload-length': String(10 * mib) } });
  expect([full.status, full.body.code, full.body.msg]).toEqual([
    413,
    'REQUEST_TOO_LARGE',
    "Upload would exceed your organization's upload quota.",
  ]);
  expect(full.body.message).toBe(full.body.msg);
  const form = await upload(owner, { name: 'form.bin', bytes: Buffer.alloc(10 * mib) });
  expect([form.status, form.body.code]).toEqual([400, 'REALM_UPLOAD_QUOTA']);
  expect((await owner.ok('GET', '/attachments')).upload_space_used).toBe(0);
  expect((await tus(owner, 'DELETE', first)).status).toBe(204);
  await expire(second);
  const third = await create(owner, 25 * mib);
  expect((await append(owner, third, { offset: 0, bytes: Buffer.alloc(24 * mib) })).status).toBe(204);
});

test('unfinished uploads of a user and their bots can use only a part of the quota', async () => {
  const { owner, member } = await openRealm();
  const full_name = 'Filler';
  const { user_id, api_key } = await member.ok('POST', '/bots', { full_name, short_name: 'filler' });
  const bot = new Client(member, { user_id, api_key, full_name, email: `filler-bot@${member.host}` });
  const [own, ofBot] = [await create(member, 25 * mib), await create(bot, 25 * mib)];
  expect((await append(member, own, { offset: 0, bytes: Buffer.alloc(15 * mib) })).status).toBe(204);
  const refused = await append(bot, ofBot, { offset: 0, bytes: Buffer.alloc(12 * mib) });
  expect([refused.status, refused.body.code, refused.body.msg]).toEqual([
    413,
    'REQUEST_TOO_LARGE',
    'Your unfinished uploads take too much space. Finish or delete some of them.',
  ]);
  // Data that arrived before is kept. Others have the rest of the quota.
  expect(await offsetOf(bot, ofBot)).toBeLessThanOrEqual(10 * mib);
  const other = await create(owner, 14 * mib);
  expect((await append(owner, other, { offset: 0, bytes: Buffer.alloc(14 * mib) })).status).toBe(200);
});

test('unfinished uploads of a bot do not count for a user who receives the bot', async () => {
  const { owner, member, member2, host } = await openRealm();
  const full_name = 'Filler';
  const { user_id, api_key } = await member.ok('POST', '/bots', { full_name, short_name: 'filler' });
  const bot = new Client(member, { user_id, api_key, full_name, email: `filler-bot@${host}` });
  for (let n = 0; n < 100; n++) await create(bot, 1);
  await owner.ok('PATCH', `/bots/${user_id}`, { bot_owner_id: member2.user_id });
  const refused = await tus(member, 'POST', '/api/v1/tus', { headers: { 'upload-length': '1' } });
  expect([refused.status, refused.body.msg]).toEqual([400, 'Too many unfinished uploads (limit: 100)']);
  await create(member2, 1);
});

test('a file above the limit is rejected when its upload is created', async () => {
  for (const size of [25 * mib + 1, Number.MAX_SAFE_INTEGER]) {
    const { status, body } = await tus(who, 'POST', '/api/v1/tus', { headers: { 'upload-length': String(size) } });
    const msg = 'Uploaded file is larger than the allowed limit of 25 MiB';
    expect([status, body.code, body.msg, body.message]).toEqual([413, 'REQUEST_TOO_LARGE', msg, msg]);
  }
});

test('a wrong length, offset, type, version or metadata is rejected and does not change the upload', async () => {
  const bad = async (headers: Record<string, string>) =>
    (await tus(who, 'POST', '/api/v1/tus', { headers: { 'upload-length': '10', ...headers } })).status;
  for (const length of ['-1', '-0.5', '1.5', 'ten', '0x10', '', ' ', '9007199254740993', '1e400', 'null', '[1]', '"5"'])
    expect([length, await bad({ 'upload-length': length })]).toEqual([length, 400]);
  expect((await tus(who, 'POST', '/api/v1/tus', { headers: { 'upload-defer-length': '1' } })).status).toBe(411);
  expect((await tus(who, 'POST', '/api/v1/tus')).status).toBe(411);
  for (const metadata of ['filename !!!', 'filename YQ==,filename Yg==', 'filename a', ',', 'filename gICA', 'ä YQ=='])
    expect([metadata, await bad({ 'upload-metadata': metadata })]).toEqual([metadata, 400]);
  expect(await bad({ 'upload-metadata': `filename ${'YWFh'.repeat(2_500)}` })).toBe(400);
  expect(await bad({ 'upload-metadata': `filename ${'YWFh'.repeat(5_000)}` })).toBe(431);
  expect(await bad({ 'tus-resumable': '0.2.2' })).toBe(412);
  const path = await create(who, 10);
  const five = randomBytes(5);
  for (const offset of ['1', '5', '10', '9007199254740991'])
    expect([offset, (await append(who, path, { offset: 0, bytes: five }, { 'upload-offset': offset })).status]).toEqual(
      [offset, 409],
    );
  for (const offset of ['-1', 'zero', '', '0.5', '1e400'])
    expect([offset, (await append(who, path, { offset: 0, bytes: five }, { 'upload-offset': offset })).status]).toEqual(
      [offset, 400],
    );
  for (const type of [
    'application/octet-stream',
    'application/x-www-form-urlencoded',
    'text/plain',
    'application/json',
  ])
    expect([type, (await append(who, path, { offset: 0, bytes: five }, { 'content-type': type })).status]).toEqual([
      type,
      415,
    ]);
  const version = await append(who, path, { offset: 0, bytes: five }, { 'tus-resumable': '2.0.0' });
  expect([version.status, version.headers['tus-version']]).toEqual([412, '1.0.0']);
  for (const headers of [{}, { 'transfer-encoding': 'chunked' }])
    expect((await append(who, path, { offset: 0, bytes: randomBytes(11) }, headers)).status).toBe(413);
  expect((await append(who, path, { offset: 0, bytes: Buffer.alloc(27 * mib) })).status).toBe(413);
  expect(await offsetOf(who, path)).toBe(0);
  expect((await append(who, path, { offset: 0, bytes: five })).status).toBe(204);
});

test('unusual file names result in safe paths', async () => {
  for (const [filename, stored] of [
    ['', 'uploaded-file'],
    ['..', 'uploaded-file'],
    ['../../etc/passwd', '../../etc/passwd'],
    ['a\u0000b.txt', 'ab.txt'],
    ['x'.repeat(300), 'x'.repeat(255)],
  ] as const) {
    const headers = { 'upload-length': '1', 'content-type': fileType, 'upload-metadata': metadataOf({ filename }) };
    const { status, body } = await tus(who, 'POST', '/api/v1/tus', { headers, body: 'x' });
    expect([status, body.filename]).toEqual([201, stored]);
    expect(body.url).toMatch(/^\/user_uploads\/\d+\/[0-9a-f]{2}\/[\w-]+\/[^/]+$/);
    expect((await download(who, body.url)).toString()).toBe('x');
  }
});

test('PATCH and DELETE can be sent as POST with the name of the method in a header', async () => {
  const path = await create(who, 4);
  const headers = { 'content-type': fileType, 'upload-offset': '0', 'x-http-method-override': 'PATCH' };
  const { status, body } = await tus(who, 'POST', path, { headers, body: 'data' });
  expect([status, typeof body.url]).toEqual([200, 'string']);
  expect((await tus(who, 'POST', path, { headers: { 'x-http-method-override': 'DELETE' } })).status).toBe(204);
  expect((await tus(who, 'POST', path, { headers: { 'x-http-method-override': 'GET' } })).status).toBe(405);
});

test('a browser with a session can upload below /json with its CSRF token', async () => {
  const { member, spectator } = await openRealm({ havePasswords: true });
  const browser = new Browser(spectator);
  expect((await browser.login(member.email, member.password)).status).toBe(303);
  const cookie = [...browser.cookies].map(([name, value]) => `${name}=${value}`).join('; ');
  const sent = (method: string, path: string, headers: Record<string, string>, body = '') =>
    untilServed(() =>
      exchange(`${member.url}${path}`, method, body, {
        ...{ host: member.host, cookie, origin: browser.origin, 'tus-resumable': '1.0.0' },
        ...headers,
      }),
    );
  const length = { 'upload-length': '4' };
  expect((await sent('POST', '/json/tus/', length)).status).toBe(403);
  const token = { 'x-csrftoken': browser.token };
  const made = await sent('POST', '/json/tus/', { ...length, ...token });
  const path = String(made.headers.location);
  expect([made.status, path]).toEqual([201, expect.stringMatching(/^\/json\/tus\/[\w-]+$/)]);
  const part = { 'upload-offset': '0', 'content-type': fileType };
  expect((await sent('PATCH', path, part, 'data')).status).toBe(403);
  const done = await sent('PATCH', path, { ...part, ...token }, 'data');
  expect([done.status, typeof done.body.url]).toEqual([200, 'string']);
});
