import type { ChatEvent } from '@natter/client';
import type { Narrow } from './place.ts';

interface View {
  narrow: Narrow;
  hasNewest: boolean;
  isStale: boolean;
}
type Views<V extends View> = ReadonlyMap<string, V>;

/** A view whose end may lack messages. Nothing is added there until the view is loaded again. */
const withGap = <V extends View>(view: V): V => ({ ...view, hasNewest: false, isStale: true });

/** The view on screen after events were lost: it stays until it is loaded again. */
export const afterGap = <V extends View>(views: Views<V>, shownKey: string | undefined): Views<V> =>
  new Map([...views].flatMap(([key, view]) => (key === shownKey ? [[key, withGap(view)]] : [])));

/** Without a subscription, a view gets no new messages of its channel. */
export function afterSubscribing<V extends View>(
  views: Views<V>,
  event: Extract<ChatEvent, { type: 'subscription' }>,
): Views<V> {
  if (event.op !== 'add') return views;
  const joined = new Set<unknown>(event.subscriptions.map(({ stream_id }) => stream_id));
  const isOfJoined = ({ narrow }: V): boolean => 'channelId' in narrow && joined.has(narrow.channelId);
  return new Map([...views].map(([key, view]) => [key, isOfJoined(view) ? withGap(view) : view]));
}
