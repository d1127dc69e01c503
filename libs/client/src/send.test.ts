import { afterEach, expect, test, vi } from 'vitest';
import { OutcomeUnknown } from './outcome-unknown.ts';
import { send } from './send.ts';

afterEach(() => void vi.restoreAllMocks());

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
