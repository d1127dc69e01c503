import { afterEach, expect, test, vi } from 'vitest';
import { send } from './send.ts';

afterEach(() => void vi.restoreAllMocks());

const busy = { result: 'error', msg: '', code: 'SERVICE_UNAVAILABLE' };

test('a request is repeated although the wall clock is set forward', async () => {
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

test('a request is repeated for as long as its time lasts', async () => {
  const fetch = async (): Promise<Response> => {
    vi.spyOn(performance, 'now').mockReturnValue(performance.now() + 3_600_000);
    return Response.json(busy, { status: 503 });
  };
  const request = { method: 'GET', path: '/api/v1/users', body: undefined };
  const failed = send({ url: 'http://localhost', fetch }, request, { isReadOnly: true, deadlineMs: 60_000 });
  await expect(failed).rejects.toMatchObject({ status: 503 });
});
