import { emptyTopicDisplayName } from './limits.ts';

/** The first UTF-16 units of a text, never with half of a surrogate pair: Postgres refuses such text. */
export const cut = (text: string, maxUnits: number): string => text.slice(0, maxUnits).replace(/[\ud800-\udbff]$/, '');

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
