import type { Place } from '../state/place.ts';
import { t } from '../text/text.ts';

interface Warnings {
  /** How many characters may follow. */
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

export function warningsOf(text: string, place: Place | undefined, { characters, mayMentionMany }: Bounds): Warnings {
  const name = place?.kind === 'topic' ? wildcard.exec(text)?.[1] : undefined;
  return {
    left: characters - (text.length < characters / 2 ? text.length : [...text].length),
    mention: name === undefined || mayMentionMany ? undefined : t('wildcardWarning', { name, limit: largeChannel }),
  };
}
