import { type Client, countOf, openRealm, RawSocket } from '@natter/testkit';
import { expect, test } from 'vitest';
import { upload, uploadWith } from './upload.ts';

const mebibyte = 1024 * 1024;
const authorizationOf = (who: Client): string =>
  `Basic ${Buffer.from(`${who.email}:${who.api_key}`).toString('base64')}`;

/** How much of the rate limit a user has left, and when the window ends. */
async function left(who: Client): Promise<{ remaining: number; reset: string }> {
  const { headers } = await who.get('/users/me');
  return { remaining: Number(headers['x-ratelimit-remaining']), reset: String(headers['x-ratelimit-reset']) };
}

/** How much of the rate limit was spent by a work and one read. */
async function spentBy(who: Client, work: () => Promise<void>): Promise<number> {
  for (;;) {
    const before = await left(who);
    await work();
    const after = await left(who);
    if (before.reset === after.reset) return before.remaining - after.remaining;
  }
}

/** Sends the head of an upload and a number of bytes; the body is malformed. */
async function begin(who: Client, announced: number, sent: number): Promise<RawSocket> {
  const socket = await RawSocket.open(who.url);
  socket.send(
    `POST /api/v1/user_uploads HTTP/1.1\r\nHost: ${who.host}\r\nAuthorization: ${authorizationOf(who)}\r\n` +
      `Content-Type: multipart/form-data; boundary=b\r\nContent-Length: ${announced}\r\n\r\n`,
  );
  for (let at = 0; at < sent; at += mebibyte) socket.send(Buffer.alloc(Math.min(mebibyte, sent - at), 'x'));
  return socket;
}

/** An upload weighs 3, and the read that follows 1. */
const uploadAndRead = 4;

test('a form upload counts each MiB that arrived, even if its body is rejected', async () => {
  const { member } = await openRealm();
  const spent = await spentBy(member, async () => {
    const socket = await begin(member, 6 * mebibyte, 6 * mebibyte);
    expect((await socket.answer()).status).toBe(400);
    socket.destroy();
  });
  expect(spent).toBe(uploadAndRead + 6);
});

test('a form upload counts each MiB that arrived, even if the client aborts it', async () => {
  const { member } = await openRealm();
  const before = await left(member);
  const socket = await begin(member, 20 * mebibyte, 6 * mebibyte);
  let reads = 0;
  await expect
    .poll(async () => {
      const now = await left(member);
      reads++;
      return now.reset === before.reset ? before.remaining - now.remaining - reads : 'another window';
    })
    .toBe(3 + 6);
  socket.destroy(true);
});

test('a repeated upload does not leave data behind', async () => {
  const realm = await openRealm();
  const { member } = realm;
  const stored = () => countOf('messaging.file_chunk', `realm_id = ${realm.id}`);
  const file = { name: 'a.bin', bytes: Buffer.alloc(mebibyte, 'x') };
  expect((await upload(member, file)).status).toBe(200);
  const chunks = await stored();
  const key = { 'idempotency-key': 'once' };
  const [first, second] = [await uploadWith(key, member, file), await uploadWith(key, member, file)];
  expect(second.body.url).toBe(first.body.url);
  expect(await stored()).toBe(2 * chunks);
});
