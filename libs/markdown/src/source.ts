declare const source: unique symbol;
/** A text as the renderer reads it. Only such a text may be searched for markup. */
export type MarkdownSource = string & { readonly [source]: true };

/** Delimiters of internal marks; they are removed from the input. */
export const MARK_START = '\u0002';
export const MARK_END = '\u0003';

/** Without the characters that the renderer removes, and with its line ends. */
export const markdownSource = (text: string): MarkdownSource =>
  text.replaceAll(MARK_START, '').replaceAll(MARK_END, '').replace(/\r\n?/g, '\n') as MarkdownSource;
