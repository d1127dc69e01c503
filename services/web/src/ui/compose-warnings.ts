import type { Place } from '../state/place.ts';
import { t } from '../text/text.ts';

export interface Warnings {
  /** Number of characters that may follow. */
  left: number;
  mention: string | undefined;
}

const wildcard = /(?:^|\s)@\*\*(all|everyone|channel|stream|topic)\*\*/;
/** Everybody may mention all of smaller channels. */
const largeChannel = 15;

interface Bounds {
  characters: number;
  mayMentionMany: boolean;
}

/**
 * Number of characters that may follow a text; below 0 if it is longer than a message may be. Spaces at its end do not
 * count.
 */
export function charactersLeft(text: string, limit: number): number {
  const sent = text.trimEnd();
  return limit - (sent.length < limit / 2 ? sent.length : [...sent].length);
}

export function warningsOf(text: string, place: Place | undefined, { characters, mayMentionMany }: Bounds): Warnings {
  const name = place?.kind === 'topic' ? wildcard.exec(text)?.[1] : undefined;
  return {
    left: charactersLeft(text, characters),
    mention: name === undefined || mayMentionMany ? undefined : t('wildcardWarning', { name, limit: largeChannel }),
  };
}
