import { useEffect, useMemo } from 'react';
import type { ListedChannel } from '../state/listed.ts';
import { useSelected, useSession } from './session-context.tsx';
import { type Task, useTask } from './use-task.ts';

/**
 * All channels that the person may see, by name; undefined until they are loaded. `loading` is the state of the last load.
 */
export function useAllChannels(): { all: readonly ListedChannel[] | undefined; loading: Task } {
  const { channelList } = useSession();
  const listed = useSelected(({ model }) => model.listed);
  // With other rules, the person may see other channels.
  const rules = useSelected(({ model }) => model.rules);
  const loading = useTask({ isReading: true });
  useEffect(() => void loading.run(() => channelList.refresh()), [channelList, rules]);
  const all = useMemo(() => listed && [...listed.values()].sort((a, b) => a.name.localeCompare(b.name)), [listed]);
  return { all, loading };
}
