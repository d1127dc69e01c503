const MAX_LENGTH = 2_000;
const MAX_MARKS = 100;
/** Fences, whose code may be highlighted, and formulas. */
const HEAVY = /`{3}|~{3}|\$\$/;

/**
 * Maximum steps of the parser (`steps.ts`) for light content, about 3 ms. A usual message of 400 characters takes
 * 8,000, 2,000 characters without markup 40,000; deep quotes and lists take more than this.
 */
export const LIGHT_STEPS = 100_000;

/**
 * Whether content may be rendered on the main thread without linkifiers, where `LIGHT_STEPS` bounds the parser: no
 * highlighting, no formulas, at most 2,000 characters, and at most 100 characters at which a rule may start.
 */
export function isLight(content: string): boolean {
  if (content.length > MAX_LENGTH) return false;
  let marks = 0;
  for (let at = 0; at < content.length; at++) if (!isPlain(content.charCodeAt(at)) && ++marks > MAX_MARKS) return false;
  return !HEAVY.test(content);
}

/** Spaces, digits and letters: those of ASCII, and all other characters except symbols and surrogates. */
const isPlain = (code: number): boolean =>
  code === 0x20 ||
  (code >= 0x61 && code <= 0x7a) ||
  (code >= 0x41 && code <= 0x5a) ||
  (code >= 0x30 && code <= 0x39) ||
  (code >= 0xc0 && code < 0x2000) ||
  (code >= 0x3040 && code < 0xd800);
