import { createContext, useContext, useMemo, useSyncExternalStore } from 'react';
import type { Session } from '../session/session.ts';
import type { State } from '../state/state.ts';
import type { Directory } from './names.ts';

export const SessionContext = createContext<Session | undefined>(undefined);

export function useSession(): Session {
  const session = useContext(SessionContext);
  if (!session) throw new Error('There is no session here');
  return session;
}

/** A part of the state. The component is drawn again when it changes. */
export function useSelected<T>(select: (state: State) => T): T {
  const session = useSession();
  return useSyncExternalStore(session.subscribe, () => select(session.state));
}

/** Names change seldom; the model changes with nearly every event. */
export function useDirectory(): Directory {
  const ownId = useSelected(({ model }) => model.ownId);
  const people = useSelected(({ model }) => model.people);
  const channels = useSelected(({ model }) => model.channels);
  const archived = useSelected(({ model }) => model.archived);
  const muted = useSelected(({ model }) => model.muted);
  return useMemo(() => ({ ownId, people, channels, archived, muted }), [ownId, people, channels, archived, muted]);
}
