import { createContext, useContext, useEffect, useMemo, useSyncExternalStore } from 'react';
import type { Session } from '../session/session.ts';
import type { Narrow } from '../state/place.ts';
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
  const listed = useSelected(({ model }) => model.listed);
  const muted = useSelected(({ model }) => model.muted);
  const former = useSelected((state) => state.former);
  return useMemo(
    () => ({ ownId, people, channels, archived, listed, muted, former }),
    [ownId, people, channels, archived, listed, muted, former],
  );
}

/** Loads all channels that the person may know, if a part of the page needs them; tries again for another channel. */
export function useListedChannels(isNeeded = true, channelId?: number): void {
  const { channelList } = useSession();
  useEffect(() => {
    // After a failure, the next page that names a channel tries again.
    if (isNeeded) channelList.need().catch(() => undefined);
  }, [channelList, isNeeded, channelId]);
}

/** The names of people and channels, with that of the channel of a list that the reader may not have joined. */
export function useDirectoryFor(narrow: Narrow): Directory {
  const directory = useDirectory();
  const channelId = narrow.kind === 'topic' || narrow.kind === 'channel' ? narrow.channelId : undefined;
  const isKnown = channelId === undefined || directory.channels.has(channelId) || directory.archived.has(channelId);
  useListedChannels(!isKnown, channelId);
  return directory;
}
