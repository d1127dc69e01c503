import { createClient } from '@natter/client';
import { afterEach, expect, test, vi } from 'vitest';
import { topicPlace } from '../state/place.ts';
import { pageBeside } from './message-pages.ts';

afterEach(() => void vi.useRealTimers());

test('a page at the end of a list is requested until the server answers', async () => {
  vi.useFakeTimers();
  let isAway = true;
  const client = createClient({
    url: 'https://chat.example',
    fetch: async () => {
      if (isAway) throw new TypeError('no connection');
      return Response.json({ result: 'success', messages: [{ id: 12 }], found_newest: true });
    },
  });
  const page = pageBeside(client, topicPlace(1, 'greetings'), 11, 'newest').catch((error: unknown) => error);
  await vi.advanceTimersByTimeAsync(10 * 60_000);
  isAway = false;
  await vi.advanceTimersByTimeAsync(60_000);
  expect(await page).toMatchObject({ messages: [{ id: 12 }], foundNewest: true });
});
