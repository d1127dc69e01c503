import { useEffect, useMemo, useState } from 'react';
import { inTurn } from './in-turn.ts';
import { useSession } from './session-context.tsx';
import { useTask } from './use-task.ts';

/** What the server says about channels. It is loaded again after each event about one. Give the same function each time. */
export function useChannelData<T>(fetch: () => Promise<T>) {
  const session = useSession();
  const [data, setData] = useState<T>();
  const task = useTask();
  const load = useMemo(() => inTurn(() => task.run(async () => setData(await fetch()))), [fetch]);
  useEffect(() => {
    void load();
    return session.onEvent(({ type }) => {
      if (type === 'stream') void load();
    });
  }, [load, session]);
  return { data, task, load };
}
