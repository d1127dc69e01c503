import { type Client, openRealm, RawSocket, type Realm } from '@natter/testkit';
import { beforeAll, expect, test } from 'vitest';
import { authorizationOf } from '../../api.ts';
import { untilServed } from '../../patience.ts';
import { create, fileType } from '../uploads/tus.ts';
import { upload } from '../uploads/upload.ts';

let realm: Realm;
let member: Client;
let head: string;
let queueId: string;
/** Paths of a stored file, and of a resumable upload. */
let file: string;
let resumable: string;
beforeAll(async () => {
  realm = await openRealm();
  member = realm.member;
  head = `Host: ${realm.host}\r\nAuthorization: ${authorizationOf(member)}\r\n`;
  queueId = (await member.queue({ event_types: ['message'], fetch_event_types: [] })).id;
  const stored = await upload(member, { name: 'large.txt', bytes: Buffer.alloc(300_000, 'x') });
  file = stored.body.url;
  resumable = await create(member, 100);
});

const multipart = (part: string, content: string): string =>
  `--b\r\nContent-Disposition: form-data; ${part}\r\n\r\n${content}\r\n--b--\r\n`;
const sized = (line: string, type: string, body: string): string =>
  `${line} HTTP/1.1\r\n${head}Content-Type: ${type}\r\nContent-Length: ${body.length}\r\n\r\n${body}`;

const tus = 'Tus-Resumable: 1.0.0\r\n';
const anonymous = (line: string, more = '', body = ''): string =>
  `${line} HTTP/1.1\r\nHost: ${realm.host}\r\n${more}\r\n${body}`;

const kinds: Record<string, () => string> = {
  'GET with a query': () => `GET /api/v1/users/me?x=%e2%9c%93 HTTP/1.1\r\n${head}\r\n`,
  'a urlencoded form': () =>
    sized('POST /api/v1/typing', 'application/x-www-form-urlencoded', `op=start&to=[${member.user_id}]`),
  'a multipart field': () =>
    sized('POST /api/v1/typing', 'multipart/form-data; boundary=b', multipart('name="op"', 'start')),
  'a multipart file': () =>
    sized('POST /api/v1/user_uploads', 'multipart/form-data; boundary=b', multipart('name="f"; filename="a.txt"', 'x')),
  'a chunked body': () =>
    `POST /api/v1/typing HTTP/1.1\r\n${head}Content-Type: application/x-www-form-urlencoded\r\nTransfer-Encoding: chunked\r\n\r\n8\r\nop=start\r\n0\r\n\r\n`,
  'a stream of events': () =>
    `GET /api/v1/events?queue_id=${queueId}&last_event_id=-1 HTTP/1.1\r\n${head}Accept: text/event-stream\r\n\r\n`,
  'a held poll': () => `GET /api/v1/events?queue_id=${queueId}&last_event_id=-1 HTTP/1.1\r\n${head}\r\n`,
  'the creation of a resumable upload with a body': () =>
    sized(`POST /api/v1/tus`, fileType, 'abc').replace('\r\n', `\r\n${tus}Upload-Length: 100\r\n`),
  'a piece of a resumable upload': () =>
    sized(`PATCH ${resumable}`, fileType, 'abc').replace('\r\n', `\r\n${tus}Upload-Offset: 0\r\n`),
  'a login form': () =>
    anonymous(
      'POST /accounts/login',
      `Origin: http://${realm.host}\r\nContent-Type: application/x-www-form-urlencoded\r\nContent-Length: 26\r\n`,
      'username=nobody&password=x',
    ),
  'a request of a browser': () => anonymous('GET /json/users/me', `Cookie: sessionid=${'x'.repeat(43)}\r\n`),
  HEAD: () => `HEAD /api/v1/users/me HTTP/1.1\r\n${head}\r\n`,
  OPTIONS: () => anonymous('OPTIONS /api/v1/server_settings'),
  'the download of a file': () => `GET ${file} HTTP/1.1\r\n${head}\r\n`,
  'content of another site': () => anonymous(`GET /external_content/${'0'.repeat(40)}/687474703a2f2f782f78`),
  'a file without authentication': () =>
    `POST /api/v1/user_uploads HTTP/1.1\r\nHost: ${realm.host}\r\nContent-Type: multipart/form-data; boundary=b\r\nContent-Length: 60\r\n\r\n${multipart('name="f"; filename="a"', '')}`,
};

test.for(Object.keys(kinds))('disconnecting after each byte of %s does not affect other requests', async (kind) => {
  const bytes = kinds[kind]?.() ?? '';
  for (let at = 0; at < bytes.length; at += 8)
    await Promise.all(
      Array.from({ length: Math.min(8, bytes.length - at) }, async (_, index) => {
        const socket = await RawSocket.open(member.url);
        socket.send(bytes.slice(0, at + index + 1));
        if (index % 3 === 0) socket.end();
        await new Promise((resolve) => setImmediate(resolve));
        socket.destroy(index % 3 === 1);
      }),
    );
  expect((await member.get('/users/me')).status).toBe(200);
});

/** The response on a connection of its own; a busy gateway refuses bodies for a while. */
const answerTo = (bytes: string) =>
  untilServed(async () => {
    const socket = await RawSocket.open(member.url);
    socket.send(bytes);
    const answer = await socket.answer();
    socket.destroy();
    return answer;
  });

test('a multipart body that ends at any byte gets a response', async () => {
  const form = `--b\r\nContent-Disposition: form-data; name="op"\r\n\r\nstart\r\n--b\r\nContent-Disposition: form-data; name="f"; filename="a.txt"\r\nContent-Type: text/plain\r\n\r\nhello\r\n--b--\r\n`;
  const requests = Array.from({ length: form.length }, (_, length) =>
    sized('POST /api/v1/user_uploads', 'multipart/form-data; boundary=b', form.slice(0, length)),
  );
  for (let at = 0; at < requests.length; at += 8)
    await Promise.all(
      requests.slice(at, at + 8).map(async (request, index) => {
        const { status, json } = await answerTo(request);
        // The closing boundary without its final line break is complete.
        const isComplete = at + index >= form.length - 2;
        expect([at + index, status, json?.result]).toEqual([
          at + index,
          isComplete ? 200 : 400,
          isComplete ? 'success' : 'error',
        ]);
      }),
    );
});

test('65 bytes of an anonymous file part are rejected, and the gateway continues', async () => {
  const body = '--x\r\nContent-Disposition: form-data; name="a"; filename="b"\r\n\r\nc';
  for (let round = 0; round < 4; round++) {
    const { status, json } = await answerTo(
      `POST /api/v1/fetch_api_key HTTP/1.1\r\nHost: ${realm.host}\r\nContent-Type: multipart/form-data; boundary=x\r\nContent-Length: ${body.length}\r\n\r\n${body}`,
    );
    expect([status, json.msg]).toEqual([400, 'The multipart body is malformed']);
  }
});
