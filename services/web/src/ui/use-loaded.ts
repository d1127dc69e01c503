import { useEffect, useMemo, useState } from 'react';
import { inTurn } from './in-turn.ts';
import { type Task, useTask } from './use-task.ts';

export interface Loaded<T> {
  /** Undefined until it is loaded. */
  data: T | undefined;
  /** The state of the last load. */
  loading: Task;
  /** Loads again. Never rejects: `loading` has the problem. */
  load: () => Promise<void>;
  /**
   * Changes something, and loads again also after a refusal, because somebody else may have changed the data. Rejects
   * with the refusal.
   */
  change: <Outcome>(work: () => Promise<Outcome>) => Promise<Outcome>;
}

/** Data of the server, loaded by one request at a time, and again for another `version`. Pass the same function in each render. */
export function useLoaded<T>(fetch: () => Promise<T>, version?: unknown): Loaded<T> {
  const [data, setData] = useState<T>();
  const loading = useTask({ isReading: true });
  const load = useMemo(() => inTurn(() => loading.run(async () => setData(await fetch()))), [fetch]);
  useEffect(() => void load(), [load, version]);
  const change = useMemo(
    () =>
      <Outcome>(work: () => Promise<Outcome>): Promise<Outcome> =>
        work().finally(load),
    [load],
  );
  return { data, loading, load, change };
}
