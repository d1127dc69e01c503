import { emptyTopicDisplayName } from './limits.ts';

/** The first UTF-16 units of a text, never with half of a surrogate pair: Postgres refuses such text. */
export const cut = (text: string, maxUnits: number): string => text.slice(0, maxUnits).replace(/[\ud800-\udbff]$/, '');

/**
 * A value of a request as an error repeats it: at most 100 characters. `String` would call methods that the request may
 * have put into an object.
 */
export const briefly = (value: unknown): string =>
  cut(typeof value === 'string' ? value : (JSON.stringify(value) ?? 'undefined'), 100);

/**
 * A name that a request gives outside its parameters, such as that of a client or a file: without control characters,
 * because Postgres stores no NUL, and cut.
 */
export const shortName = (name: string, maxUnits: number): string =>
  cut(name.replaceAll(/\p{Cc}/gu, '').trim(), maxUnits);

/** Whether anything of a name is shown: not only spaces and characters that nobody sees, which would hide who has the name. */
export const isVisible = (name: string): boolean =>
  /[^\p{Z}\p{Cc}\p{Cf}\p{Cs}\p{M}\p{Default_Ignorable_Code_Point}\u2800]/u.test(name);

/** The topic with this name: requests may use the display name or the former name of the empty topic. */
export const topicOfName = (name: string): string =>
  name === emptyTopicDisplayName || name === '(no topic)' ? '' : name;

/** Postgres stores neither NUL nor half of a surrogate pair. */
export const isStorable = (text: string): boolean => text.isWellFormed() && !text.includes('\0');

const isRecord = (value: unknown): value is Record<string, unknown> => typeof value === 'object' && value !== null;

/** Whether a text or key of the value is like this. Recursive, so only for plain values of bounded depth. */
export function holdsText(value: unknown, isLike: (text: string) => boolean): boolean {
  if (typeof value === 'string') return isLike(value);
  // Loops without functions and lists of keys: all that requests write is checked.
  if (Array.isArray(value)) {
    for (const item of value) if (holdsText(item, isLike)) return true;
  } else if (isRecord(value)) for (const key in value) if (isLike(key) || holdsText(value[key], isLike)) return true;
  return false;
}

/** `JSON.stringify` escapes NUL and halves of surrogate pairs, and never a whole pair. */
const unstorableEscape = /(?<!\\)(?:\\\\)*\\u(?:0000|d[89a-f])/;

/** Whether Postgres can store every text in a value, by what `JSON.stringify` made of it. */
export const isStorableJson = (json: string): boolean =>
  !(json.includes('\\u0000') || json.includes('\\ud')) || !unstorableEscape.test(json);
