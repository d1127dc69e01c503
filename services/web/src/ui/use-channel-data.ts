import type { ChatEvent } from '@natter/client';
import { useEffect } from 'react';
import { useSelected, useSession } from './session-context.tsx';
import { type Loaded, useLoaded } from './use-loaded.ts';

/**
 * Properties that are not shown. They change with subscriptions and messages: loading again for each change would use up
 * the rate limit of the person.
 */
const notShown = new Set(['subscriber_count', 'stream_weekly_traffic', 'is_recently_active', 'first_message_id']);

const changesChannels = (event: ChatEvent): boolean =>
  event.type === 'stream' && !(event.op === 'update' && notShown.has(event.property));

/**
 * Loads data about channels, and loads them again after each event that changes them. Pass the same functions in each
 * render.
 */
export function useChannelData<T>(fetch: () => Promise<T>, isNews = changesChannels): Loaded<T> {
  const session = useSession();
  // A new snapshot has new rules. Events before it are missing.
  const snapshot = useSelected(({ model }) => model.rules);
  const loaded = useLoaded(fetch, snapshot);
  const { load } = loaded;
  useEffect(
    () =>
      session.onEvent((event) => {
        if (isNews(event)) void load();
      }),
    [load, session, isNews],
  );
  return loaded;
}
