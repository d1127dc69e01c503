import { afterEach, describe, expect, test, vi } from 'vitest';
import { ApiError } from './api-error.ts';
import type { ClientOptions } from './client-options.ts';
import { OutcomeUnknown } from './outcome-unknown.ts';
import { send } from './send.ts';

afterEach(() => {
  vi.restoreAllMocks();
  vi.useRealTimers();
});

const busy = { result: 'error', msg: '', code: 'SERVICE_UNAVAILABLE' };

test('a request is repeated even if the wall clock is set forward', async () => {
  let attempts = 0;
  const { now } = Date;
  const fetch = async (): Promise<Response> => {
    attempts++;
    vi.spyOn(Date, 'now').mockImplementation(() => now() + 3_600_000);
    return attempts === 1 ? Response.json(busy, { status: 503 }) : Response.json({ result: 'success', msg: '' });
  };
  const request = { method: 'GET', path: '/api/v1/users', body: undefined };
  const answer = await send({ url: 'http://localhost', fetch }, request, { isReadOnly: true, deadlineMs: 60_000 });
  expect([attempts, answer]).toEqual([2, { result: 'success', msg: '' }]);
});

test('a request is repeated until its deadline', async () => {
  const fetch = async (): Promise<Response> => {
    vi.spyOn(performance, 'now').mockReturnValue(performance.now() + 3_600_000);
    return Response.json(busy, { status: 503 });
  };
  const request = { method: 'GET', path: '/api/v1/users', body: undefined };
  const failed = send({ url: 'http://localhost', fetch }, request, { isReadOnly: true, deadlineMs: 60_000 });
  await expect(failed).rejects.toMatchObject({ status: 503 });
});

const write = { method: 'POST', path: '/api/v1/messages', body: 'content=hello' };

/** The monotonic clock stands still meanwhile, as on a machine that sleeps. */
function sleep(hours: number): void {
  vi.spyOn(Date, 'now').mockReturnValue(Date.now() + hours * 3_600_000);
}

test('a write is not repeated when the server may have forgotten its key', async () => {
  const lost = new TypeError('the answer was lost');
  let attempts = 0;
  const fetch = async (): Promise<Response> => {
    attempts++;
    sleep(attempts === 1 ? 19 : 2);
    throw lost;
  };
  const sending = { isReadOnly: false, deadlineMs: 60_000, retryForMs: Number.POSITIVE_INFINITY };
  const failure = await send({ url: 'http://localhost', fetch }, write, sending).catch((error: unknown) => error);
  expect(failure).toBeInstanceOf(OutcomeUnknown);
  expect([attempts, (failure as OutcomeUnknown).cause]).toEqual([2, lost]);
});

test('the age of a key from an earlier process counts from its first attempt', async () => {
  const attempts: string[] = [];
  const fetch = async (_: unknown, init?: RequestInit): Promise<Response> => {
    attempts.push(new Headers(init?.headers).get('idempotency-key') ?? '');
    return Response.json({ result: 'success', msg: '' });
  };
  const sending = { isReadOnly: false, deadlineMs: 60_000, idempotencyKey: 'a' };
  const sendAfter = (hours: number) =>
    send({ url: 'http://localhost', fetch }, write, { ...sending, firstSentAt: Date.now() - hours * 3_600_000 });
  await sendAfter(19);
  await expect(sendAfter(20)).rejects.toBeInstanceOf(OutcomeUnknown);
  expect(attempts).toEqual(['a']);
});

test('a read is repeated after any time', async () => {
  let attempts = 0;
  const fetch = async (): Promise<Response> => {
    sleep(24);
    return attempts++ === 0 ? Response.json(busy, { status: 503 }) : Response.json({ result: 'success', msg: '' });
  };
  const request = { method: 'GET', path: '/api/v1/events', body: undefined };
  await send({ url: 'http://localhost', fetch }, request, { isReadOnly: true, deadlineMs: 60_000 });
  expect(attempts).toBe(2);
});

const hour = 3_600_000;
const once = { isReadOnly: true, deadlineMs: 60_000, retryForMs: 0 };

/** Resolves after a time, unless the request was given up before. */
const wait = (ms: number, signal: AbortSignal | null | undefined): Promise<void> =>
  new Promise((resolve, reject) => {
    setTimeout(resolve, ms);
    signal?.addEventListener('abort', () => reject(signal.reason));
  });

test('an answer that arrives slowly is read to its end', async () => {
  vi.useFakeTimers();
  const text = JSON.stringify({ result: 'success', msg: 'Grüße' });
  const fetch = async (_: unknown, init?: RequestInit): Promise<Response> => {
    await wait(80_000, init?.signal);
    const bytes = [...new TextEncoder().encode(text)];
    const body = new ReadableStream({
      async pull(controller) {
        const next = bytes.shift();
        if (next === undefined) return controller.close();
        await wait(80_000, init?.signal);
        controller.enqueue(Uint8Array.of(next));
      },
    });
    return new Response(body);
  };
  const request = { method: 'GET', path: '/api/v1/register', body: undefined };
  const answered = send({ url: 'http://localhost', fetch }, request, once);
  await vi.advanceTimersByTimeAsync(hour);
  expect(await answered).toEqual({ result: 'success', msg: 'Grüße' });
});

test('a file has the time that a slow connection needs', async () => {
  vi.useFakeTimers();
  const fetch = async (_: unknown, init?: RequestInit): Promise<Response> => {
    await wait(600_000, init?.signal);
    return Response.json({ result: 'success', msg: '' });
  };
  const body = new FormData();
  body.set('file', new Blob([new Uint8Array(20 * 1024 * 1024)]));
  const request = { method: 'POST', path: '/api/v1/user_uploads', body };
  const answered = send({ url: 'http://localhost', fetch }, request, { ...once, isReadOnly: false });
  await vi.advanceTimersByTimeAsync(hour);
  expect(await answered).toEqual({ result: 'success', msg: '' });
});

test.each([
  ['never begins', (init?: RequestInit) => wait(hour, init?.signal).then(() => new Response())],
  [
    'stops',
    async (init?: RequestInit) =>
      new Response(
        new ReadableStream({
          async pull(controller) {
            controller.enqueue(Uint8Array.of(0x7b));
            await wait(hour, init?.signal);
          },
        }),
      ),
  ],
])('a request is given up if its answer %s', async (_, answer) => {
  vi.useFakeTimers();
  const fetch = (_: unknown, init?: RequestInit): Promise<Response> => answer(init);
  const request = { method: 'GET', path: '/api/v1/register', body: undefined };
  const failed = send({ url: 'http://localhost', fetch }, request, once).catch((error: unknown) => error);
  await vi.advanceTimersByTimeAsync(hour / 2);
  expect(await failed).toMatchObject({ name: 'TimeoutError' });
});

describe('a read with a long list', () => {
  const list = 'x'.repeat(10_000);
  const sent = async (client: Partial<ClientOptions>, query: string) => {
    const requests: { url: string; init: RequestInit | undefined }[] = [];
    const fetch = async (url: unknown, init?: RequestInit): Promise<Response> => {
      requests.push({ url: String(url), init });
      return requests.length === 1
        ? Response.json(busy, { status: 503 })
        : Response.json({ result: 'success', msg: '' });
    };
    const request = { method: 'GET', path: `/api/v1/users${query}`, body: undefined };
    await send({ url: '', fetch, ...client }, request, { isReadOnly: true, deadlineMs: 60_000 });
    return requests.map(({ url, init }) => ({
      url,
      method: init?.method,
      body: init?.body,
      hasKey: new Headers(init?.headers).has('idempotency-key'),
      type: new Headers(init?.headers).get('content-type'),
    }));
  };
  const asForm = {
    method: 'POST',
    body: `a=${list}&method=GET`,
    hasKey: false,
    type: 'application/x-www-form-urlencoded',
  };
  const asQuery = { method: 'GET', body: undefined, hasKey: false, type: null };

  test('is sent as a form, and repeated as a read', async () => {
    const key = { email: 'a@example.com', apiKey: 'x' };
    expect(await sent(key, `?a=${list}`)).toEqual(Array(2).fill({ ...asForm, url: '/api/v1/users' }));
    const session = { session: { csrfToken: () => 'x' } };
    expect(await sent(session, `?a=${list}`)).toEqual(Array(2).fill({ ...asForm, url: '/json/users' }));
    expect(await sent(key, '?a=b')).toEqual(Array(2).fill({ ...asQuery, url: '/api/v1/users?a=b' }));
    expect(await sent(key, `/${list}`)).toEqual(Array(2).fill({ ...asQuery, url: `/api/v1/users/${list}` }));
  });

  test('stays a query without credentials, because the server reads no form then', async () => {
    expect(await sent({}, `?a=${list}`)).toEqual(Array(2).fill({ ...asQuery, url: `/api/v1/users?a=${list}` }));
  });
});

describe('an answer that is not JSON', () => {
  /** The first answer is the page of a proxy, the second one comes from the server. */
  const sentTo = async (status: number, page: string) => {
    let attempts = 0;
    const fetch = async (): Promise<Response> =>
      ++attempts === 1 ? new Response(page, { status }) : Response.json({ result: 'success', msg: '' });
    const outcome = await send({ url: '', fetch }, write, { isReadOnly: false, deadlineMs: 60_000 }).catch(
      (error: unknown) => error,
    );
    return { attempts, outcome };
  };

  test.each([400, 401, 403, 405, 413, 414, 431])('is a refusal with the status %i', async (status) => {
    for (const page of ['<html>', '', 'null', '"text"']) {
      const { attempts, outcome } = await sentTo(status, page);
      expect(outcome).toBeInstanceOf(ApiError);
      expect([attempts, outcome]).toEqual([
        1,
        expect.objectContaining({ status, code: '', message: `HTTP ${status}`, extra: {} }),
      ]);
    }
  });

  test.each([200, 404, 408, 429, 500, 502, 503, 504])('is repeated with the status %i', async (status) => {
    for (const page of ['<html>', '', 'null'])
      expect(await sentTo(status, page)).toEqual({ attempts: 2, outcome: { result: 'success', msg: '' } });
  });

  test('is repeated for a write that may have been executed, until the server itself answers', async () => {
    const answers = [
      () => Promise.reject(new TypeError('fetch failed')),
      () => Promise.resolve(new Response('<html>', { status: 403 })),
      () => Promise.resolve(Response.json({ result: 'error', msg: '', code: 'BAD_REQUEST' }, { status: 400 })),
    ];
    let attempts = 0;
    const fetch = (): Promise<Response> => answers[attempts++]?.() ?? Promise.reject(new Error('too many'));
    const sent = send({ url: '', fetch }, write, { isReadOnly: false, deadlineMs: 60_000 });
    await expect(sent).rejects.toMatchObject({ status: 400, code: 'BAD_REQUEST' });
    attempts = 0;
    const read = send({ url: '', fetch }, write, { isReadOnly: true, deadlineMs: 60_000 });
    await expect(read).rejects.toMatchObject({ status: 403, code: '' });
  });

  test.each([404, 408])('is repeated with the status %i if it is JSON of a proxy', async (status) => {
    const page = '{"message":"no route"}';
    expect(await sentTo(status, page)).toEqual({ attempts: 2, outcome: { result: 'success', msg: '' } });
  });

  test('is read from a `fetch` without web streams', async () => {
    const answer = {
      ok: true,
      status: 200,
      headers: new Headers(),
      body: {},
      text: async () => '{"result":"success"}',
    };
    const fetch = async (): Promise<Response> => answer as unknown as Response;
    const sent = send({ url: '', fetch }, write, { isReadOnly: false, deadlineMs: 60_000 });
    expect(await sent).toEqual({ result: 'success' });
  });

  test.each([404, 408])('is a refusal with the status %i if the server itself answers', async (status) => {
    const { attempts, outcome } = await sentTo(status, '{"result":"error","msg":"","code":"BAD_REQUEST"}');
    expect([attempts, outcome]).toEqual([1, expect.objectContaining({ status, code: 'BAD_REQUEST' })]);
  });
});
