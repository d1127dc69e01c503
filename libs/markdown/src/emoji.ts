import type { FoundEmoji } from './context.ts';
import type { InlineRule } from './inline.ts';
import { type Element, element, text } from './node.ts';
import { findEmoji } from './unicode-emoji.ts';

const NAME = /:([\p{L}\p{M}\p{N}_+-]{1,100}):/gu;

/** `:name:` */
export const emoji: InlineRule = (content, inline) =>
  content.includes(':')
    ? content.replace(NAME, (whole, name: string) => {
        const found = inline.run.find.emoji(name);
        return found ? inline.mark([emojiNode(name, found)], whole) : whole;
      })
    : content;

export const unicodeEmojiRule: InlineRule = (content, inline) => {
  let result = '';
  let at = 0;
  for (const { start, end, name, code } of findEmoji(content)) {
    result += content.slice(at, start) + inline.mark([emojiNode(name, { kind: 'unicode', code })], `:${name}:`);
    at = end;
  }
  return result + content.slice(at);
};

export function emojiNode(name: string, found: FoundEmoji): Element {
  const title = name.replaceAll('_', ' ');
  const source = `:${name}:`;
  if (found.kind === 'realm') return element('img', { alt: source, class: 'emoji', src: found.url, title });
  const attributes = { 'aria-label': title, class: `emoji emoji-${found.code}`, role: 'img', title };
  return element('span', attributes, [text(source)]);
}
