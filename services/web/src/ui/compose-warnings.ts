import type { Place } from '../state/place.ts';
import { mayMentionMany } from '../state/writing.ts';
import type { Writing } from '../state/writing-snapshot.ts';

interface Warnings {
  /** How many characters may follow. */
  left: number;
  mention: string | undefined;
}

const wildcard = /(?:^|\s)@\*\*(all|everyone|channel|stream|topic)\*\*/;
/** Everybody may mention all of smaller channels. */
const largeChannel = 15;

export function warningsOf(text: string, place: Place | undefined, writing: Writing): Warnings {
  const name = place?.kind === 'topic' ? wildcard.exec(text)?.[1] : undefined;
  return {
    left: writing.limits.message - (text.length < writing.limits.message / 2 ? text.length : [...text].length),
    mention:
      name === undefined || mayMentionMany(writing)
        ? undefined
        : `You may use @${name} only where it mentions at most ${largeChannel} people. Otherwise the message is refused.`,
  };
}
