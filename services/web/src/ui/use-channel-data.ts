import type { ChatEvent } from '@natter/client';
import { useEffect, useMemo, useState } from 'react';
import { inTurn } from './in-turn.ts';
import { useSelected, useSession } from './session-context.tsx';
import { useTask } from './use-task.ts';

/**
 * Properties that are not shown. They change with subscriptions and messages: loading again for each change would use up
 * the rate limit of the person.
 */
const notShown = new Set(['subscriber_count', 'stream_weekly_traffic', 'is_recently_active', 'first_message_id']);

const isNews = (event: ChatEvent): boolean =>
  event.type === 'stream' && !(event.op === 'update' && notShown.has(event.property));

/**
 * Loads data about channels, and loads them again after each event that changes shown properties. Pass the same function
 * in each render.
 */
export function useChannelData<T>(fetch: () => Promise<T>) {
  const session = useSession();
  // A new snapshot has new rules. Events before it are missing.
  const snapshot = useSelected(({ model }) => model.rules);
  const [data, setData] = useState<T>();
  const task = useTask();
  const load = useMemo(() => inTurn(() => task.run(async () => setData(await fetch()))), [fetch]);
  useEffect(
    () =>
      session.onEvent((event) => {
        if (isNews(event)) void load();
      }),
    [load, session],
  );
  useEffect(() => void load(), [load, snapshot]);
  return { data, task, load };
}
