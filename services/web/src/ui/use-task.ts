import { useEffect, useRef, useState } from 'react';
import { problemOf } from '../session/problem.ts';
import { useSession } from './session-context.tsx';

export interface Task {
  isBusy: boolean;
  problem: string | undefined;
  /** The last success, as a sentence. */
  done: string | undefined;
  run: (work: () => Promise<unknown>, done?: string) => Promise<void>;
}

interface TaskOptions {
  /** The task only reads data for its part of the page. Its problem is not shown once that part is closed. */
  isReading?: boolean;
}

/** A request to the server, and its result. A notice shows a problem that its part of the page cannot show. */
export function useTask({ isReading = false }: TaskOptions = {}): Task {
  const session = useSession();
  const [isBusy, setBusy] = useState(false);
  const [failure, setFailure] = useState<{ problem: string }>();
  const [done, setDone] = useState<string>();
  const isShown = useRef(false);
  /** A problem that is not on the page yet. */
  const unseen = useRef<unknown>(undefined);
  useEffect(() => {
    unseen.current = undefined;
  }, [failure]);
  useEffect(() => {
    isShown.current = true;
    return () => {
      isShown.current = false;
      if (unseen.current !== undefined) session.notify(unseen.current);
    };
  }, [session]);
  const run = async (work: () => Promise<unknown>, text?: string): Promise<void> => {
    setBusy(true);
    setFailure(undefined);
    setDone(undefined);
    try {
      await work();
      setDone(text);
    } catch (error) {
      setFailure({ problem: problemOf(error) });
      if (isReading) return;
      if (isShown.current) unseen.current = error;
      else session.notify(error);
    } finally {
      setBusy(false);
    }
  };
  return { isBusy, problem: failure?.problem, done, run };
}
