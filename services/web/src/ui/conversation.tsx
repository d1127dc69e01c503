import { useEffect } from 'react';
import { keyOf, type Narrow, type Place } from '../state/place.ts';
import { Compose, NewTopic } from './compose.tsx';
import { isPlace } from './links.ts';
import { MessageList } from './message-list.tsx';
import { titleOf } from './names.ts';
import { useSelected, useSession } from './session-context.tsx';

export function Conversation({ narrow }: { narrow: Narrow }) {
  const session = useSession();
  const key = keyOf(narrow);
  const model = useSelected((state) => state.model);
  const view = useSelected((state) => state.views.get(key));
  const problem = useSelected((state) => state.failed.get(key));
  useEffect(() => {
    session.shown = { narrow, topId: undefined };
    if (!view) void session.open(narrow);
  }, [session, key, view === undefined]);
  return (
    <main className="conversation" key={key}>
      <h1 title={titleOf(model, narrow)}>{titleOf(model, narrow)}</h1>
      {view ? (
        <MessageList view={view} />
      ) : (
        <div className="empty">
          {problem === undefined ? (
            <p role="status">Loading messages…</p>
          ) : (
            <>
              <p role="alert">The messages could not be loaded: {problem}</p>
              <button type="button" onClick={() => void session.open(narrow)}>
                Try again
              </button>
            </>
          )}
        </div>
      )}
      <Writing narrow={narrow} />
    </main>
  );
}

function Writing({ narrow }: { narrow: Narrow }) {
  const model = useSelected((state) => state.model);
  if (narrow.kind === 'feed') return <p className="compose-hint">Open a conversation to write in it.</p>;
  if (narrow.kind !== 'direct' && !model.channels.has(narrow.channelId))
    return <p className="compose-hint">You are not subscribed to this channel.</p>;
  return isPlace(narrow) ? (
    <Compose place={narrow as Place} label={`Message ${titleOf(model, narrow)}`} />
  ) : (
    <NewTopic channelId={narrow.channelId} />
  );
}
