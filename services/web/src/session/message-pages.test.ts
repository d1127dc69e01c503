import { createClient } from '@natter/client';
import { afterEach, expect, test, vi } from 'vitest';
import { topicPlace } from '../state/place.ts';
import { pageBeside } from './message-pages.ts';

afterEach(() => void vi.useRealTimers());

/** A page of messages, requested from a server that does not answer before `answer`. */
function requestPage() {
  vi.useFakeTimers();
  let isAway = true;
  const client = createClient({
    url: 'https://chat.example',
    fetch: async () => {
      if (isAway) throw new TypeError('no connection');
      return Response.json({ result: 'success', messages: [{ id: 12 }], found_newest: true });
    },
  });
  const request = new AbortController();
  const beside = { anchor: 11, towards: 'newest' as const, signal: request.signal };
  const page = pageBeside(client, topicPlace(1, 'greetings'), beside).catch((error: unknown) => error);
  const answer = (): void => {
    isAway = false;
  };
  return { page, answer, abort: () => request.abort() };
}

test('a page at the end of a list is requested until the server answers', async () => {
  const { page, answer } = requestPage();
  await vi.advanceTimersByTimeAsync(10 * 60_000);
  answer();
  await vi.advanceTimersByTimeAsync(60_000);
  expect(await page).toMatchObject({ messages: [{ id: 12 }], foundNewest: true });
});

test('a page at the end of a list that nobody waits for is no longer requested', async () => {
  const { page, answer, abort } = requestPage();
  await vi.advanceTimersByTimeAsync(60_000);
  abort();
  answer();
  expect(await page).toMatchObject({ name: 'AbortError' });
});
