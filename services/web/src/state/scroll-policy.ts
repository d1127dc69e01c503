import type { Narrow } from './place.ts';
import type { Writing } from './writing-snapshot.ts';

/** Values of the setting `web_mark_read_on_scroll_policy`. */
export const scrollPolicies = { always: 1, inConversations: 2, never: 3 } as const;

/** Whether messages that the reader sees in a list count as read. Never those of a search, or starred ones. */
export function marksRead({ kind }: Narrow, { web_mark_read_on_scroll_policy: policy }: Writing['settings']): boolean {
  if (policy === scrollPolicies.never || kind === 'search' || kind === 'starred') return false;
  return policy !== scrollPolicies.inConversations || kind === 'topic' || kind === 'direct';
}
