import type { Token } from 'markdown-it';

/** A tight list item's text has no tags of its own, so a block that follows it starts the new line itself. */
export function onOwnLine(tokens: Token[], index: number, html: string): string {
  return tokens[index - 1]?.type === 'paragraph_close' && tokens[index - 1]?.hidden ? `\n${html}` : html;
}
