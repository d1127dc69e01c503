import { type Client, type Json, openRealm, RawSocket, type Realm, rawRequest } from '@natter/testkit';
import { beforeAll, describe, expect, test } from 'vitest';
import { authorizationOf } from '../../api.ts';
import { untilServed } from '../../patience.ts';

let realm: Realm;
let member: Client;
let authorization: string;
beforeAll(async () => {
  realm = await openRealm();
  member = realm.member;
  authorization = `Authorization: ${authorizationOf(member)}\r\n`;
});

const get = (target: string, headers = ''): string =>
  `GET ${target} HTTP/1.1\r\nHost: ${realm.host}\r\n${authorization}${headers}\r\n`;
const post = (path: string, body: string, headers = 'Content-Type: application/x-www-form-urlencoded\r\n'): string =>
  `POST ${path} HTTP/1.1\r\nHost: ${realm.host}\r\n${authorization}${headers}Content-Length: ${Buffer.byteLength(body, 'latin1')}\r\n\r\n${body}`;
const answerTo = (bytes: string) => untilServed(() => rawRequest(member.url, bytes));

describe('the host of a request', () => {
  const settings = (hosts: string, target = '/api/v1/server_settings'): string =>
    `GET ${target} HTTP/1.1\r\n${hosts}\r\n`;

  test('must be one host with an optional port, and anything else returns 400', async () => {
    expect((await answerTo(settings(`Host: ${realm.host}\r\n`))).status).toBe(200);
    const refused = [
      '',
      'Host:\r\n',
      `Host: ${realm.host}\r\nHost: evil.example\r\n`,
      `Host: ${realm.host}\r\nhost: ${realm.host}\r\n`,
      `Host: ${realm.host}:80@evil.example\r\n`,
      `Host: user@${realm.host}\r\n`,
      `Host: ${realm.host}/path\r\n`,
      `Host: ${realm.host},evil.example\r\n`,
      `Host: ${realm.host} evil.example\r\n`,
      `Host: ${realm.host}:port\r\n`,
      `Host: ${realm.host}:99999\r\n`,
      `Host: http://${realm.host}\r\n`,
      'Host: [::1\r\n',
      'Host: \u00e4.example\r\n',
    ];
    for (const hosts of refused) {
      const { status, json } = await answerTo(settings(hosts));
      expect([hosts, status, json?.result, json?.code]).toEqual([hosts, 400, 'error', 'BAD_REQUEST']);
    }
  });

  test('is checked for every path, even without a realm', async () => {
    for (const path of ['/openapi.json', '/docs', '/no/such/path'])
      expect([path, (await answerTo(settings('Host: a@b\r\n', path))).status]).toEqual([path, 400]);
  });

  test('is not taken from the request target', async () => {
    for (const target of [
      `http://${realm.host}/api/v1/server_settings`,
      'http://evil.example/',
      '*',
      'evil.example:80',
    ])
      expect([target, (await answerTo(settings(`Host: ${realm.host}\r\n`, target))).status]).toEqual([target, 400]);
  });

  test('may be a name that is invalid in a URL, which does not match any Origin', async () => {
    for (const host of ['1.2.3.999', '1.2.3.4.5', '0x1.2.3.999:80']) {
      const body = 'username=a&password=b';
      const headers = `Host: ${host}\r\nOrigin: http://${host}\r\nContent-Length: ${body.length}\r\n`;
      const { status, json } = await answerTo(`POST /accounts/login HTTP/1.1\r\n${headers}\r\n${body}`);
      expect([host, status, json?.code]).toEqual([host, 403, 'CSRF_FAILED']);
    }
  });

  test('may be an IPv6 address', async () => {
    const { status, json } = await answerTo(settings('Host: [2001:db8::1]:8080\r\n'));
    expect([status, json.code]).not.toEqual([400, 'BAD_REQUEST']);
  });
});

describe('invalid or rare HTTP', () => {
  const chunkedTyping = (coding: string): string => {
    const body = `op=start&type=direct&to=[${member.user_id}]`;
    const head = `POST /api/v1/typing HTTP/1.1\r\nTransfer-Encoding: ${coding}\r\nHost: ${realm.host}\r\n${authorization}`;
    return `${head}Content-Type: application/x-www-form-urlencoded\r\n\r\n${body.length.toString(16)}\r\n${body}\r\n0\r\n\r\n`;
  };

  test('that cannot be parsed returns an API error and closes the connection', async () => {
    const cases = [
      ['nonsense\r\n\r\n', 400],
      ['GET / HTTP/9.9\r\n\r\n', 400],
      [`GET /api/v1/users/me HTTP/1.1\r\nHost: ${'x'}\r\nBad Header: 1\r\n\r\n`, 400],
      [get('/api/v1/users/me', 'X-Nul: a\0b\r\n'), 400],
      [get('/api/v1/users/me', `X-Large: ${'x'.repeat(20_000)}\r\n`), 431],
      [get(`/api/v1/users/me?x=${'x'.repeat(20_000)}`), 431],
      [get('/api/v1/users/me', 'X: y\r\n'.repeat(4_000)), 431],
      [`POST /api/v1/typing HTTP/1.1\r\nHost: ${realm.host}\r\n${authorization}Content-Length: -1\r\n\r\n`, 400],
      [
        `POST /api/v1/typing HTTP/1.1\r\nHost: ${realm.host}\r\n${authorization}Content-Length: 1\r\nContent-Length: 2\r\n\r\nx`,
        400,
      ],
      [
        `POST /api/v1/typing HTTP/1.1\r\nHost: ${realm.host}\r\n${authorization}Content-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n`,
        400,
      ],
      [
        `POST /api/v1/typing HTTP/1.1\r\nHost: ${realm.host}\r\n${authorization}Content-Type: application/x-www-form-urlencoded\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n`,
        400,
      ],
      [
        `POST /api/v1/typing HTTP/1.0\r\nHost: ${realm.host}\r\n${authorization}Connection: keep-alive\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n`,
        400,
      ],
      ...['gzip, chunked', 'GZIP,Chunked', 'chunked, chunked', 'chunked, identity', 'gzip', 'xchunked'].map(
        (coding) => [chunkedTyping(coding), 400] as const,
      ),
    ] as const;
    for (const [bytes, expected] of cases) {
      const socket = await RawSocket.open(member.url);
      socket.send(bytes);
      const { status, json } = await socket.answer();
      expect([bytes.slice(0, 60), status, json?.result, typeof json?.code]).toEqual([
        bytes.slice(0, 60),
        expected,
        'error',
        'string',
      ]);
      await socket.closed;
    }
  });

  test('such as a body in chunks is read, however the name of the coding is written', async () => {
    for (const coding of ['chunked', 'Chunked', '  CHUNKED  '])
      expect([coding, (await answerTo(chunkedTyping(coding))).status]).toEqual([coding, 200]);
  });

  test('such as TRACE, upgrades and HTTP/1.0 gets a response, and CONNECT closes the connection', async () => {
    const tunnel = await RawSocket.open(member.url);
    tunnel.send('CONNECT evil.example:443 HTTP/1.1\r\nHost: evil.example\r\n\r\n');
    await tunnel.closed;
    expect(tunnel.received).not.toContain(' 200 ');
    expect((await answerTo(`TRACE /api/v1/users/me HTTP/1.1\r\nHost: ${realm.host}\r\n\r\n`)).status).toBe(404);
    const upgrade =
      'Connection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Key: eA==\r\nSec-WebSocket-Version: 13\r\n';
    expect((await answerTo(get('/api/v1/users/me', upgrade))).status).toBe(200);
    const old = await RawSocket.open(member.url);
    old.send(`GET /api/v1/users/me HTTP/1.0\r\nHost: ${realm.host}\r\n${authorization}\r\n`);
    expect((await old.answer()).status).toBe(200);
    await old.closed;
  });
});

describe('valid HTTP with unusual values', () => {
  test('in the target gets the expected status', async () => {
    const cases = [
      ['/api/v1/%', 400],
      ['/api/v1/users/%ff', 400],
      ['/api/v1/users/%00', 400],
      ['/%c0%ae%c0%ae/etc/passwd', 400],
      ['/api/v1/users/me?%', 200],
      ['/api/v1/users/me?x=%ff', 400],
      [`/api/v1/users/me?${'a&'.repeat(3_000)}`, 400],
      ['/api/v1/users/me?__proto__=1&constructor=2&toString=3&hasOwnProperty=4', 200],
      ['/api/v1/__proto__', 404],
      ['/constructor', 404],
      [`/${'a/'.repeat(5_000)}`, 404],
      ['//api/v1/users/me', 200],
      ['/api/v1/users/me/', 200],
      ['/api/v1//users///me//', 200],
      [`/api/v1${'/'.repeat(5_000)}users/me`, 200],
    ] as const;
    for (const [target, expected] of cases) {
      const { status, json } = await answerTo(get(target));
      expect([target.slice(0, 60), status, json?.result]).toEqual([
        target.slice(0, 60),
        expected,
        expected === 200 ? 'success' : 'error',
      ]);
    }
    const named = await answerTo(get('/api/v1/users/me?__proto__=1&constructor=2'));
    expect(named.json.ignored_parameters_unsupported.sort()).toEqual(['__proto__', 'constructor']);
  });

  test('in the body is rejected', async () => {
    const form = 'Content-Type: multipart/form-data; boundary=b\r\n';
    const part = (disposition: string, content = 'x'): string =>
      `--b\r\nContent-Disposition: ${disposition}\r\n\r\n${content}\r\n`;
    const cases: [string, string, number][] = [
      ['fields without number', post('/api/v1/typing', 'a&'.repeat(3_000)), 400],
      [
        'parts without number',
        post('/api/v1/typing', `${part('form-data; name="a"').repeat(3_000)}--b--\r\n`, form),
        400,
      ],
      [
        'files without number',
        post('/api/v1/user_uploads', `${part('form-data; name="a"; filename="a"').repeat(30)}--b--\r\n`, form),
        400,
      ],
      [
        'headers of a part without number',
        post('/api/v1/typing', `--b\r\n${'X: y\r\n'.repeat(20_000)}\r\nx\r\n--b--\r\n`, form),
        400,
      ],
      ['no boundary', post('/api/v1/typing', 'x', 'Content-Type: multipart/form-data\r\n'), 400],
      ['an empty boundary', post('/api/v1/typing', 'x', 'Content-Type: multipart/form-data; boundary=\r\n'), 400],
      [
        'a long boundary',
        post('/api/v1/typing', 'x', `Content-Type: multipart/form-data; boundary=${'b'.repeat(8_000)}\r\n`),
        400,
      ],
      ['a name that is no text', post('/api/v1/typing', `${part('form-data; name="__proto__"')}--b--\r\n`, form), 400],
      [
        'NUL in a file name',
        post('/api/v1/user_uploads', `${part('form-data; name="f"; filename="a\0b"')}--b--\r\n`, form),
        400,
      ],
      [
        'invalid UTF-8 in a field',
        post('/api/v1/typing', `${part('form-data; name="op"', '\xff')}--b--\r\n`, form),
        400,
      ],
      ['a type that is no type', post('/api/v1/typing', 'x', 'Content-Type: ;;;\r\n'), 400],
      [
        'a compressed body',
        post('/api/v1/typing', 'x', 'Content-Type: application/x-www-form-urlencoded\r\nContent-Encoding: gzip\r\n'),
        400,
      ],
    ];
    for (const [name, bytes, expected] of cases) {
      const { status, json } = await answerTo(bytes);
      expect([name, status, json?.result]).toEqual([name, expected, 'error']);
    }
    for (const method of ['__proto__', 'constructor', 'HEAD', 'OPTIONS', 'x'.repeat(10_000), '%00'])
      expect([method, (await answerTo(post('/api/v1/messages', `method=${method}`))).status]).toEqual([method, 405]);
  });

  test('in the sizes of chunks is accepted up to a limit', async () => {
    const key = `Authorization: ${authorizationOf(realm.member2)}\r\n`;
    const start = `POST /api/v1/user_uploads HTTP/1.1\r\nHost: ${realm.host}\r\n${key}Content-Type: multipart/form-data; boundary=b\r\nTransfer-Encoding: chunked\r\n\r\n`;
    const chunk = (text: string): string => `${text.length.toString(16)}\r\n${text}\r\n`;
    const upload = (part: string, count: number) => {
      const head = chunk('--b\r\nContent-Disposition: form-data; name="f"; filename="a"\r\n\r\n');
      return answerTo(`${start}${head}${chunk(part).repeat(count)}${chunk('\r\n--b--\r\n')}0\r\n\r\n`);
    };
    expect((await upload('x'.repeat(1_000), 1_000)).status).toBe(200);
    expect((await upload('x', 10_000)).status).toBe(200);
    const refused = await upload('x', 300_000);
    expect([refused.status, refused.json?.code]).toEqual([400, 'BAD_REQUEST']);
  });

  test('in the headers gets 200, or 401 for Authorization', async () => {
    const queue = await member.queue({ event_types: ['message'], fetch_event_types: [] });
    const odd = [
      'Accept: text/event-stream;q=x,,,\0'.replace('\0', ''),
      'Range: bytes=0-0,1-1,2-2,-1',
      'Range: bytes=99999999999999999999-',
      'If-None-Match: *',
      'Content-Type: text/html; charset=x',
      'Connection: keep-alive, close, x',
      'X-Forwarded-For: 1.1.1.1, , x',
      'Traceparent: 00-zz-zz-zz',
      'User-Agent: ((((((((',
      'User-Agent: ',
      'Idempotency-Key: \xff\xfe',
    ];
    for (const header of odd)
      expect([header, (await answerTo(get('/api/v1/users/me', `${header}\r\n`))).status]).toEqual([header, 200]);
    for (const id of ['x', '-99999999999999999999', '1e9', '9'.repeat(400)]) {
      const socket = await RawSocket.open(member.url);
      socket.send(
        get(
          `/api/v1/events?queue_id=${queue.id}&last_event_id=-1`,
          `Accept: text/event-stream\r\nLast-Event-ID: ${id}\r\n`,
        ),
      );
      await socket.until((text) => text.includes('retry: 1000'));
      socket.destroy();
    }
    for (const header of ['Authorization: Basic', 'Authorization: \xff', `Authorization: Basic ${'A'.repeat(9_000)}`])
      expect((await answerTo(`GET /api/v1/users/me HTTP/1.1\r\nHost: ${realm.host}\r\n${header}\r\n\r\n`)).status).toBe(
        401,
      );
  });

  test.each([
    ['/api/v1/users/me', '200'],
    ['/api/v1/users/%ff', '400'],
    ['/no/such/path', '404'],
  ])('such as a thousand pipelined requests for %s gets 64 responses and then 503', async (path, status) => {
    const statuses = async (): Promise<(string | undefined)[]> => {
      const socket = await RawSocket.open(member.url);
      socket.send(get(path).repeat(1_000));
      await socket.closed;
      return [...socket.received.matchAll(/HTTP\/1\.1 (\d+)/g)].map(([, found]) => found);
    };
    // On a busy machine the last of the 64 requests may reach their deadline.
    await expect.poll(statuses).toEqual([...Array(64).fill(status), '503']);
    await member.ok('GET', '/users/me');
  });

  test('gets a content type and nosniff in every response', async () => {
    const requests = [
      ...['/api/v1/users/me', '/api/v1/users/%ff', '/no/such/path', '/openapi.json', '/docs'].map((path) => get(path)),
      `GET /api/v1/users/me HTTP/1.1\r\nHost: ${realm.host}\r\n\r\n`,
      post('/api/v1/typing', 'op=x'),
      'GET /\r\n\r\n',
    ];
    for (const bytes of requests) {
      const { headers } = await answerTo(bytes);
      for (const header of [/\ncontent-type: /i, /\nx-content-type-options: nosniff/i])
        expect([bytes, headers]).toEqual([bytes, expect.stringMatching(header)]);
    }
    expect((await answerTo(get('/docs'))).headers).toMatch(/content-security-policy: default-src 'none';/i);
  });

  test('such as a few pipelined requests gets its responses in order', async () => {
    const socket = await RawSocket.open(member.url);
    socket.send([1, 2, 3, 4, 5].map((number) => get(`/api/v1/users/me?n${number}=1`)).join(''));
    for (const number of [1, 2, 3, 4, 5])
      expect((await socket.answer()).json.ignored_parameters_unsupported).toEqual([`n${number}`]);
    socket.destroy();
  });
});

test('a file name with a NUL character is rejected in each form that a part can have', async () => {
  const names = ['filename="a\0b.txt"', 'filename="\0"', "filename*=utf-8''a%00b.txt", "filename*=UTF-8''%00"];
  const paths = ['/api/v1/user_uploads', '/api/v1/users/me/avatar'];
  for (const path of paths)
    for (const name of names) {
      const body = `--b\r\nContent-Disposition: form-data; name="file"; ${name}\r\n\r\nhello\r\n--b--\r\n`;
      const { status, json } = await answerTo(post(path, body, 'Content-Type: multipart/form-data; boundary=b\r\n'));
      expect([path, name, status, json?.result]).toEqual([path, name, 400, 'error']);
    }
  expect((await member.get('/attachments')).body.attachments).toEqual([]);
});

test('the charset of a part cannot result in text that PostgreSQL cannot store', async () => {
  const form = 'Content-Type: multipart/form-data; boundary=b\r\n';
  const part = (head: string, value: string): string =>
    `--b\r\nContent-Disposition: form-data; ${head}\r\n\r\n${value}\r\n`;
  const to = part('name="type"', 'direct') + part('name="to"', `[${member.user_id}]`);
  const content = (value: string): string =>
    part('name="content"\r\nContent-Type: text/plain; charset=utf-16le', value);
  const halves = post('/api/v1/messages', `${to}${content('\x61\x00\x00\xd8\x62\x00')}--b--\r\n`, form);
  expect((await answerTo(halves)).json).toMatchObject({ result: 'error', code: 'BAD_REQUEST' });
  const sent = await answerTo(post('/api/v1/messages', `${to}${content('hello')}--b--\r\n`, form));
  expect((await member.ok('GET', `/messages/${sent.json.id}`, { apply_markdown: false })).message.content).toBe(
    'hello',
  );
  for (const name of ["utf-16le''%00%d8a%00", "ucs2''%00%dc", "utf-16le''a%00%00%00"]) {
    const body = `${part(`name="file"; filename*=${name}`, 'x')}--b--\r\n`;
    const { status, json } = await answerTo(post('/api/v1/user_uploads', body, form));
    expect([name, status, json?.code]).toEqual([name, 400, 'BAD_REQUEST']);
  }
});

describe('a long or invalid name', () => {
  test.each([
    ['a\0b\r\nc', 'abc'],
    [`${'a'.repeat(59)}😀`, 'a'.repeat(59)],
  ])('of the client %j is cleaned', async (client, expected) => {
    const { id } = await member.ok('POST', '/messages', {
      type: 'direct',
      to: [member.user_id],
      content: 'hi',
      client,
    });
    expect((await member.ok('GET', `/messages/${id}`)).message.client).toBe(expected);
  });

  test('of a file is truncated between characters', async () => {
    const body = `--b\r\nContent-Disposition: form-data; name="file"; filename="${'a'.repeat(254)}😀.txt"\r\n\r\nhello\r\n--b--\r\n`;
    const { status, json } = await answerTo(
      post(
        '/api/v1/user_uploads',
        Buffer.from(body).toString('latin1'),
        'Content-Type: multipart/form-data; boundary=b\r\n',
      ),
    );
    expect([status, json?.filename]).toEqual([200, 'a'.repeat(254)]);
    const { attachments } = await member.ok('GET', '/attachments');
    expect(attachments.map(({ name }: Json) => name)).toEqual(['a'.repeat(254)]);
  });
});
