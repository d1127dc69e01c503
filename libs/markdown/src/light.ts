const MAX_LENGTH = 2_000;
const MAX_MARKS = 100;
/** Fences, whose code may be highlighted, and formulas. */
const HEAVY = /`{3}|~{3}|\$\$/;

/**
 * Steps of the parser (`steps.ts`) that light content may take. A usual message of 400 characters takes 80,000; what is made to be slow
 * takes up to seven millions.
 */
export const LIGHT_STEPS = 1_000_000;

/**
 * Whether the content, without linkifiers, may be rendered on the main thread, where `LIGHT_STEPS` bounds the parser: no highlighting, no
 * formulas, and at most 100 characters that any rule may start at in at most 2,000. What runs after the parser (links, emoji) looks at
 * each of these places once, and reads at most 2,000 characters there.
 */
export function isLight(content: string): boolean {
  if (content.length > MAX_LENGTH) return false;
  let marks = 0;
  for (let at = 0; at < content.length; at++) if (!isPlain(content.charCodeAt(at)) && ++marks > MAX_MARKS) return false;
  return !HEAVY.test(content);
}

/** Spaces, digits and letters: of ASCII, and what is not among symbols and surrogates. */
const isPlain = (code: number): boolean =>
  code === 0x20 ||
  (code >= 0x61 && code <= 0x7a) ||
  (code >= 0x41 && code <= 0x5a) ||
  (code >= 0x30 && code <= 0x39) ||
  (code >= 0xc0 && code < 0x2000) ||
  (code >= 0x3040 && code < 0xd800);
