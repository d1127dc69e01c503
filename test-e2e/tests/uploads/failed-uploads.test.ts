import { type Client, countOf, openRealm, RawSocket } from '@natter/testkit';
import { expect, test } from 'vitest';
import { authorizationOf } from '../../api.ts';
import { withinOneWindow } from '../../one-window.ts';
import { upload, uploadWith } from './upload.ts';

const mebibyte = 1024 * 1024;

/** How much of the rate limit a user has left, and when the window ends. */
async function left(who: Client): Promise<{ remaining: number; reset: string }> {
  const { status, headers } = await who.get('/users/me');
  if (status !== 200) throw new Error(`GET /users/me: ${status}`);
  return { remaining: Number(headers['x-ratelimit-remaining']), reset: String(headers['x-ratelimit-reset']) };
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
  await withinOneWindow(async () => {
    const before = await left(member);
    const socket = await begin(member, 6 * mebibyte, 6 * mebibyte);
    expect((await socket.answer()).status).toBe(400);
    socket.destroy();
    const after = await left(member);
    expect(after.reset).toBe(before.reset);
    expect(before.remaining - after.remaining).toBe(uploadAndRead + 6);
  });
});

test('a form upload counts each MiB that arrived, even if the client aborts it', async () => {
  const { member } = await openRealm();
  await withinOneWindow(async () => {
    const before = await left(member);
    const socket = await begin(member, 20 * mebibyte, 6 * mebibyte);
    const counted = { weight: 0, isOver: false };
    for (let reads = 1; !counted.isOver && counted.weight < 3 + 6; reads++) {
      const now = await left(member);
      counted.isOver = now.reset !== before.reset;
      counted.weight = before.remaining - now.remaining - reads;
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
    socket.destroy(true);
    expect(counted).toEqual({ weight: 3 + 6, isOver: false });
  });
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
