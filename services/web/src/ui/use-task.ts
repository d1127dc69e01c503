import { useState } from 'react';
import { problemOf } from '../session/problem.ts';

export interface Task {
  isBusy: boolean;
  problem: string | undefined;
  /** The last success, as a sentence. */
  done: string | undefined;
  run: (work: () => Promise<unknown>, done?: string) => Promise<void>;
}

/** Something that the server is asked to do, and how it went. */
export function useTask(): Task {
  const [isBusy, setBusy] = useState(false);
  const [problem, setProblem] = useState<string>();
  const [done, setDone] = useState<string>();
  const run = async (work: () => Promise<unknown>, text?: string): Promise<void> => {
    setBusy(true);
    setProblem(undefined);
    setDone(undefined);
    try {
      await work();
      setDone(text);
    } catch (error) {
      setProblem(problemOf(error));
    } finally {
      setBusy(false);
    }
  };
  return { isBusy, problem, done, run };
}
