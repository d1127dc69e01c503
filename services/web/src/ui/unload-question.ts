import { useEffect, useSyncExternalStore } from 'react';
import type { Session } from '../session/session.ts';

/** While files are on their way, the browser asks before it leaves the page: it would drop them. */
export function useUnloadQuestion({ writer: { uploads } }: Session): void {
  const isBusy = useSyncExternalStore(uploads.subscribe, () => uploads.isBusy);
  useEffect(() => {
    if (!isBusy) return;
    const ask = (event: BeforeUnloadEvent): void => event.preventDefault();
    addEventListener('beforeunload', ask);
    return () => removeEventListener('beforeunload', ask);
  }, [isBusy]);
}
