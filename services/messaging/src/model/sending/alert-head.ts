const run = /[\p{L}\p{N}_]+/gu;

/** The runs of letters and digits of a text, with their places. */
export function* runsIn(text: string): Generator<{ run: string; at: number }> {
  for (const { 0: found, index } of text.matchAll(run)) yield { run: found, at: index };
}

/**
 * The first run of letters and digits of an alert word, used as its index key: if the word occurs in a text on its own,
 * so does that run. Words without one have the empty key.
 */
export const headOf = (word: string): string => word.toLowerCase().match(run)?.[0] ?? '';

/** The keys of all alert words that a text may contain. */
export const headsIn = (content: string): string[] => ['', ...new Set(content.toLowerCase().match(run) ?? [])];
