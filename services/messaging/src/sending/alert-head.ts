const run = /[\p{L}\p{N}_]+/gu;

/**
 * The first run of letters and digits of an alert word, by which it is found: where the word stands alone in a text, that run
 * does too. Words without one have the empty head.
 */
export const headOf = (word: string): string => word.toLowerCase().match(run)?.[0] ?? '';

/** The heads of all alert words that a text may hold. */
export const headsIn = (content: string): string[] => ['', ...new Set(content.toLowerCase().match(run) ?? [])];
