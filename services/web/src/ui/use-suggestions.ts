import { type KeyboardEvent, useEffect, useMemo, useState } from 'react';
import {
  channelNamed,
  type Emoji,
  type Suggestion,
  suggestChannels,
  suggestCommands,
  suggestEmoji,
  suggestMentions,
  suggestTopics,
  type Token,
  tokenAt,
} from '../state/completion.ts';
import { keyOf, type Place } from '../state/place.ts';
import { loadEmoji } from './compose-emoji.ts';
import { isOfInputMethod } from './composing.ts';
import { useListedChannels, useSelected, useSession } from './session-context.tsx';

const nothing: readonly Suggestion[] = [];

export interface Suggestions {
  all: readonly Suggestion[];
  active: number;
  token: Token | undefined;
  /** Takes a key of the text box. Returns the suggestion that it chooses, or whether it was for the list. */
  onKey: (event: KeyboardEvent) => Suggestion | boolean;
  dismiss: () => void;
}

interface Written {
  place: Place | undefined;
  /** Whether a command at the beginning has its effect. */
  hasCommands: boolean;
}

const isChoice = ({ key, shiftKey, ctrlKey, metaKey }: KeyboardEvent): boolean =>
  !shiftKey && (key === 'Tab' || (key === 'Enter' && !ctrlKey && !metaKey));

/** The suggestions for the text before the caret. Without a caret, the box has no focus. */
export function useSuggestions(text: string, caret: number | undefined, { place, hasCommands }: Written): Suggestions {
  const found = caret === undefined ? undefined : tokenAt(text, caret);
  const token = found?.kind === 'command' && !hasCommands ? undefined : found;
  const [active, setActive] = useState(0);
  const [dismissed, setDismissed] = useState<number>();
  const all = useMatches(token, place);
  const isOpen = token !== undefined && token.start !== dismissed && all.length > 0;
  const query = token && `${token.kind} ${token.query}`;
  useEffect(() => setActive(0), [query]);
  useEffect(() => {
    if (token === undefined) setDismissed(undefined);
  }, [token === undefined]);
  const shown = isOpen ? all : nothing;
  const chosen = Math.min(active, shown.length - 1);
  const onKey = (event: KeyboardEvent): Suggestion | boolean => {
    if (!isOpen || isOfInputMethod(event.nativeEvent)) return false;
    if (event.key === 'ArrowDown') setActive((chosen + 1) % shown.length);
    else if (event.key === 'ArrowUp') setActive((chosen + shown.length - 1) % shown.length);
    else if (event.key === 'Escape') setDismissed(token.start);
    else if (isChoice(event)) return shown[chosen] ?? true;
    else return false;
    return true;
  };
  return { all: shown, active: chosen, token, onKey, dismiss: () => setDismissed(token?.start) };
}

function useMatches(token: Token | undefined, place: Place | undefined): readonly Suggestion[] {
  const session = useSession();
  const model = useSelected((state) => state.model);
  const emoji = useEmoji(token?.kind === 'emoji');
  useListedChannels(token?.kind === 'channel' || token?.kind === 'topic');
  const channel = token?.kind === 'topic' ? channelNamed(token.channel, model) : undefined;
  const topics = useTopics(channel?.id);
  const isSilent = token?.kind === 'mention' && token.isSilent;
  return useMemo(() => {
    switch (token?.kind) {
      case 'mention':
        return suggestMentions(token.query, isSilent, { model, place, writers: writersOf(session.state, place) });
      case 'channel':
        return suggestChannels(token.query, model);
      case 'topic':
        return channel ? suggestTopics(token.query, channel, topics) : nothing;
      case 'emoji':
        return suggestEmoji(token.query, emoji);
      case 'command':
        return suggestCommands(token.query);
      default:
        return nothing;
    }
  }, [
    session,
    token?.kind,
    token?.query,
    isSilent,
    model.people,
    model.channels,
    model.listed,
    model.writing,
    place,
    channel,
    topics,
    emoji,
  ]);
}

/** The senders of the loaded messages of a conversation. */
function writersOf({ views, messages }: ReturnType<typeof useSession>['state'], place: Place | undefined): Set<number> {
  const ids = (place && views.get(keyOf(place))?.ids) ?? [];
  return new Set(ids.flatMap((id) => messages.get(id)?.sender_id ?? []));
}

const noTopics: readonly string[] = [];

/** The topics of a channel, newest first, once they are loaded. */
export function useTopics(channelId: number | undefined): readonly string[] {
  const session = useSession();
  const [loaded, setLoaded] = useState<{ channelId: number; topics: string[] }>();
  useEffect(() => {
    if (channelId === undefined) return;
    let isCurrent = true;
    session.topicsOf(channelId).then(
      (topics) => isCurrent && setLoaded({ channelId, topics: topics.map(({ name }) => name) }),
      () => undefined,
    );
    return () => {
      isCurrent = false;
    };
  }, [session, channelId]);
  return loaded && loaded.channelId === channelId ? loaded.topics : noTopics;
}

const noEmoji: readonly Emoji[] = [];

function useEmoji(isWanted: boolean): readonly Emoji[] {
  const own = useSelected(({ model }) => model.marks.emoji);
  const [loaded, setLoaded] = useState(noEmoji);
  useEffect(() => {
    if (isWanted && loaded.length === 0) loadEmoji().then(setLoaded, () => undefined);
  }, [isWanted, loaded]);
  return useMemo(() => [...[...own.values()].map(({ name }) => ({ name, mark: '' })), ...loaded], [own, loaded]);
}
