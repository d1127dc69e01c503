/**
 * Text of users, for a notice. Channel links have no effect, because system bots can see all channels, while the reader
 * or the author of the text may not.
 */
export const withoutLinks = (text: string): string => text.replaceAll('#**', '\\#**');

/** Quotes such text; the fence is longer than any in it. */
export function quoteBlock(text: string): string {
  const fence = '`'.repeat(Math.max(3, ...[...text.matchAll(/`+/g)].map(([run]) => run.length + 1)));
  return `${fence}quote\n${withoutLinks(text)}\n${fence}`;
}
