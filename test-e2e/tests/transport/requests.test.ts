import { type Client, exchange, openRealm, RawSocket, type Realm } from '@natter/testkit';
import { beforeAll, describe, expect, test } from 'vitest';
import { authorizationOf } from '../../api.ts';
import { untilServed } from '../../patience.ts';

let realm: Realm;
let member: Client;
beforeAll(async () => {
  realm = await openRealm({ havePasswords: true });
  member = realm.member;
});

const form = { 'content-type': 'application/x-www-form-urlencoded' };
const raw = (method: string, path: string, body: string | Uint8Array, headers: Record<string, string> = {}) =>
  untilServed(() =>
    exchange(`${member.url}/api/v1${path}`, method, body, {
      host: realm.host,
      authorization: authorizationOf(member),
      ...headers,
    }),
  );

describe('parameters', () => {
  test('are accepted in the body or the query for every method, and the body takes precedence', async () => {
    const me = member.user_id;
    const inQuery = await raw('POST', `/messages?type=direct&to=[${me}]&content=query`, '');
    expect(inQuery.status).toBe(200);
    const both = await raw('POST', `/messages?content=query`, `type=direct&to=[${me}]&content=body`, form);
    const { body } = await member.get(`/messages/${both.body.id}`, { apply_markdown: false });
    expect(body.message?.content ?? 'body').toBe('body');
    const getWithBody = await raw('GET', '/users', 'client_gravatar=maybe', form);
    expect(getWithBody.body.msg).toBe('client_gravatar is not valid JSON');
  });

  test('are read from multipart forms', async () => {
    const fields = { type: 'direct', to: `[${member.user_id}]`, content: 'größer ✓' };
    const body = Object.entries(fields)
      .map(([name, value]) => `--xyz\r\nContent-Disposition: form-data; name="${name}"\r\n\r\n${value}\r\n`)
      .join('');
    const headers = { 'content-type': 'multipart/form-data; boundary=xyz' };
    expect((await raw('POST', '/messages', `${body}--xyz--\r\n`, headers)).status).toBe(200);
    const broken = Buffer.concat([
      Buffer.from('--xyz\r\nContent-Disposition: form-data; name="type"\r\n\r\n'),
      Buffer.from([0xff]),
      Buffer.from('\r\n--xyz--\r\n'),
    ]);
    const answer = await raw('POST', '/messages', broken, headers);
    expect([answer.status, answer.body.msg]).toEqual([400, 'The request is not valid UTF-8']);
  });

  test('that are unknown are listed in a successful response', async () => {
    const { body } = await member.get('/users/me', { strange: 'x', other: 1 });
    expect(body.ignored_parameters_unsupported.sort()).toEqual(['other', 'strange']);
    expect((await member.get('/users/me')).body.ignored_parameters_unsupported).toBeUndefined();
  });

  test('that are missing or invalid are reported by name and type', async () => {
    const missing = await member.post('/messages', { type: 'direct', to: [member.user_id] });
    expect([missing.status, missing.body.code, missing.body.var_name]).toEqual([
      400,
      'REQUEST_VARIABLE_MISSING',
      'content',
    ]);
    const texts = [
      [{ event_types: '{' }, 'event_types is not valid JSON'],
      [{ event_types: 'x"' }, 'event_types is not valid JSON'],
      [{ event_types: 1 }, 'event_types is not a list'],
      [{ event_types: [1] }, 'event_types[0] is not a string'],
      [{ apply_markdown: 3 }, 'apply_markdown is not a boolean'],
      [{ client_capabilities: [] }, 'client_capabilities is not a dict'],
      [{ presence_history_limit_days: true }, 'presence_history_limit_days is not an integer'],
      [{ include_subscribers: 'some' }, 'Invalid include_subscribers'],
    ] as const;
    for (const [given, msg] of texts) {
      const { status, body } = await member.post('/register', given);
      expect([status, body.code, body.msg]).toEqual([400, 'BAD_REQUEST', msg]);
    }
    const negative = await member.post('/register', { presence_history_limit_days: -1 });
    expect(negative.body).toMatchObject({
      code: 'REQUEST_VARIABLE_INVALID',
      var_name: 'presence_history_limit_days',
      bad_value: '-1',
    });
    const confusing = await member.post('/register', { idle_queue_timeout: 60, queue_lifespan_secs: 60 });
    expect(confusing.body).toMatchObject({
      code: 'REQUEST_CONFUSING_VAR',
      var_name1: 'idle_queue_timeout',
      var_name2: 'queue_lifespan_secs',
    });
  });

  test('with invalid UTF-8 or NUL are rejected', async () => {
    for (const field of ['content=%ff', 'content=a%00b'])
      expect((await raw('POST', '/messages', `type=direct&to=[${member.user_id}]&${field}`, form)).status).toBe(400);
    const inJson = await member.post('/register', { event_types: '["\\u0000"]' });
    expect([inJson.status, inJson.body.msg]).toEqual([400, 'event_types contains a NUL character']);
    const json = await raw('POST', '/messages', '{"type":"direct"}', { 'content-type': 'application/json' });
    expect([json.status, json.body.code]).toEqual([400, 'BAD_REQUEST']);
  });
});

describe('a path', () => {
  test('that is unknown returns 404 as JSON, and with a wrong method 405 with the allowed methods', async () => {
    const unknown = await member.get('/nothing/here');
    expect([unknown.status, unknown.body.result, unknown.body.code]).toEqual([404, 'error', 'NOT_FOUND']);
    const wrong = await member.put('/messages');
    expect([wrong.status, wrong.body.result, wrong.body.code]).toEqual([405, 'error', undefined]);
    expect(wrong.body.allowed_methods).toContain('POST');
    expect(String(wrong.headers.allow)).toContain('POST');
  });

  test('may contain repeated slashes, as some clients send them', async () => {
    const answer = await raw('GET', '//users//me', '');
    expect([answer.status, answer.body.user_id]).toEqual([200, member.user_id]);
  });

  test('answers OPTIONS with its methods, and HEAD like GET without a body', async () => {
    const options = await raw('OPTIONS', '/events', '');
    expect([options.status, String(options.headers.allow).split(', ').sort()]).toEqual([204, ['DELETE', 'GET']]);
    const head = await raw('HEAD', '/users/me', '');
    expect([head.status, head.body]).toEqual([200, '']);
    expect(Number(head.headers['content-length'])).toBeGreaterThan(20);
  });

  test('does not accept HEAD for an operation with effects', async () => {
    const queue = await member.queue({ event_types: ['message'], fetch_event_types: [] });
    for (const path of [
      `/events?queue_id=${queue.id}&last_event_id=-1&dont_block=true`,
      '/events?dont_block=true',
      '/register',
      '/messages',
    ]) {
      const { status } = await raw('HEAD', path, '');
      // Only `/messages` has a GET without effects, which fails here for missing parameters.
      expect([path, status]).toEqual([path, path === '/messages' ? status : 405]);
    }
    const url = `${member.url}/accounts/confirm_new_email/${'x'.repeat(32)}`;
    const confirmation = await untilServed(() => exchange(url, 'HEAD', '', { host: realm.host }));
    expect(confirmation.status).toBeGreaterThanOrEqual(400);
  });

  test('accepts another method in the form field `method`', async () => {
    const { id } = await member.queue({ event_types: ['message'], fetch_event_types: [] });
    const deleted = await member.post('/events', { method: 'DELETE', queue_id: id });
    expect(deleted.body).toEqual({ result: 'success', msg: '', ignored_parameters_unsupported: ['method'] });
    expect((await member.delete('/events', { queue_id: id })).body).toMatchObject({
      code: 'BAD_EVENT_QUEUE_ID',
      queue_id: id,
    });
    const inQuery = await member.get('/users/me', { method: 'DELETE' });
    expect([inQuery.status, inQuery.body.ignored_parameters_unsupported]).toEqual([200, ['method']]);
  });
});

describe('a large body', () => {
  const megabytes = (count: number): string => `content=${'x'.repeat(count * 1024 * 1024)}`;

  test('of an unauthenticated client is not read', async () => {
    const none = await raw('POST', '/user_uploads', megabytes(2), { ...form, authorization: '' });
    expect([none.status, none.body.code]).toEqual([401, 'UNAUTHORIZED']);
    const wrongKey = `Basic ${Buffer.from(`${member.email}:${'x'.repeat(32)}`).toString('base64')}`;
    const wrong = await raw('POST', '/user_uploads', megabytes(2), { ...form, authorization: wrongKey });
    expect([wrong.status, wrong.body.code]).toEqual([401, 'INVALID_API_KEY']);
    const open = await realm.spectator.post('/fetch_api_key', { username: megabytes(2), password: 'x' });
    expect([open.status, open.body.code]).toEqual([413, 'REQUEST_TOO_LARGE']);
    expect((await raw('POST', '/no/such/path', megabytes(2), form)).status).toBe(404);
  });

  test('is rejected by the limits of the operation', async () => {
    const long = await raw('POST', '/messages', `type=direct&to=[1]&content=${'x'.repeat(100_000)}`, form);
    expect([long.status, long.body.code]).toEqual([400, 'BAD_REQUEST']);
    const large = await raw('POST', '/messages', `type=direct&to=[1]&${megabytes(5)}`, form);
    expect([large.status, large.body.code]).toEqual([413, 'REQUEST_TOO_LARGE']);
    const chunked = await raw('POST', '/messages', `type=direct&to=[1]&${megabytes(5)}`, {
      ...form,
      'transfer-encoding': 'chunked',
    }).catch(() => undefined);
    if (chunked) expect(chunked.status).toBe(413);
    const other = await raw('PATCH', '/settings', megabytes(30), form);
    expect([other.status, other.body.code]).toEqual([413, 'REQUEST_TOO_LARGE']);
  });

  test('does not get 100 Continue before its request is admitted', async () => {
    const head = (path: string, bytes: number, extra = ''): string =>
      `POST /api/v1${path} HTTP/1.1\r\nHost: ${realm.host}\r\n${extra}Content-Type: application/x-www-form-urlencoded\r\nExpect: 100-continue\r\nContent-Length: ${bytes}\r\n\r\n`;
    const key = `Authorization: ${authorizationOf(member)}\r\n`;
    const answers = [
      ['/messages', 10_000_000, '', 401],
      ['/no/such/path', 10_000_000, '', 404],
      ['/messages', 10_000_000, key, 413],
    ] as const;
    for (const [path, bytes, extra, expected] of answers) {
      const socket = await RawSocket.open(member.url);
      socket.send(head(path, bytes, extra));
      await socket.until((received) => received.includes('\r\n\r\n'));
      expect(socket.received.slice(0, 12)).toBe(`HTTP/1.1 ${expected}`);
      socket.destroy();
    }
    const admitted = await RawSocket.open(member.url);
    admitted.send(head('/typing', 8, key));
    await admitted.until((received) => received.startsWith('HTTP/1.1 100 Continue\r\n\r\n'));
    admitted.send('op=start');
    expect((await admitted.answer()).status).toBe(400);
    admitted.destroy();
  });
});

describe('a response', () => {
  test('has a request ID and rate headers, and is not cached', async () => {
    const { headers } = await member.get('/users/me');
    expect(headers['x-request-id']).toMatch(/^[0-9a-f-]{36}$/);
    expect(headers['cache-control']).toMatch(/^no-cache, no-store/);
    for (const name of ['limit', 'remaining', 'reset'])
      expect(Number(headers[`x-ratelimit-${name}`])).toBeGreaterThan(0);
  });

  test('to a missing or wrong key is 401, and to a missing key has WWW-Authenticate', async () => {
    const none = await realm.spectator.get('/users/me');
    expect([none.status, none.body.code, none.headers['www-authenticate']]).toEqual([
      401,
      'UNAUTHORIZED',
      'Basic realm="zulip"',
    ]);
    // A browser would ask for a password, and send it with requests of pages of other sites.
    for (const headers of [{ accept: 'text/html,*/*' }, { origin: 'https://other.example' }]) {
      const shown = await untilServed(() =>
        exchange(`${member.url}/api/v1/users/me`, 'GET', '', { host: realm.host, ...headers }),
      );
      expect(shown.headers['www-authenticate']).toBe('Session realm="zulip"');
    }
    const wrong = await raw('GET', '/users/me', '', {
      authorization: `Basic ${Buffer.from(`${member.email}:${'x'.repeat(32)}`).toString('base64')}`,
    });
    expect([wrong.status, wrong.body.code]).toEqual([401, 'INVALID_API_KEY']);
  });
});

describe('guessing a password', () => {
  test('is blocked after five wrong passwords, and a right password before that resets the count', async () => {
    const login = (password: string) =>
      realm.spectator.post('/fetch_api_key', { username: realm.member2.email, password });
    for (let round = 0; round < 2; round++) {
      for (let wrong = 0; wrong < 4; wrong++) expect((await login('wrong')).body.code).toBe('AUTHENTICATION_FAILED');
      expect((await login(realm.member2.password)).status).toBe(200);
    }
    for (let wrong = 0; wrong < 5; wrong++) await login('wrong');
    const stopped = await login(realm.member2.password);
    expect([stopped.status, stopped.body.code]).toEqual([429, 'RATE_LIMIT_HIT']);
    expect(stopped.body['retry-after']).toBeGreaterThan(0);
    expect(Number(stopped.headers['retry-after'])).toBeGreaterThan(0);
  });
});

describe('a host', () => {
  test('selects only its realm, and a key of another realm is rejected', async () => {
    const other = await openRealm({ havePasswords: true });
    const answer = await raw('GET', '/users/me', '', { host: other.host });
    expect(answer.status).toBe(401);
  });
});

test('links use the configured origin, regardless of forwarded headers', async () => {
  const forwarded = {
    'x-forwarded-proto': 'https',
    'x-forwarded-for': '203.0.113.7',
    'x-forwarded-host': 'chat.example',
  };
  const { body } = await realm.spectator.get('/server_settings', {}, forwarded);
  expect(body.realm_url).toBe(`http://${realm.host}`);
});
