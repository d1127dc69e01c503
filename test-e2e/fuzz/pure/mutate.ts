import type { Random } from '../../random.ts';
import { hostileJsonText, hostileText } from '../requests/hostile.ts';

const longest = 4_000;

/** A text that differs from one of the corpus by a few edits. */
export function mutated(corpus: readonly string[], random: Random): string {
  let text = random.pick(corpus);
  for (let left = 1 + random.below(4); left > 0; left--) text = edited(text, corpus, random);
  return text.slice(0, longest);
}

function edited(text: string, corpus: readonly string[], random: Random): string {
  const at = random.below(text.length + 1);
  const end = Math.min(text.length, at + 1 + random.below(8));
  switch (random.below(8)) {
    case 0:
      return text.slice(0, at) + text.slice(end);
    case 1:
      return (
        text.slice(0, at) +
        String.fromCodePoint(random.pick([random.below(128), random.below(0xd800), 0x1f600])) +
        text.slice(at)
      );
    case 2:
      return text.slice(0, at) + text.slice(at, end).repeat(1 + random.below(30)) + text.slice(end);
    case 3: {
      const other = random.pick(corpus);
      return text.slice(0, at) + other.slice(random.below(other.length + 1));
    }
    case 4:
      return text.slice(0, at) + hostileText(random).slice(0, 60) + text.slice(end);
    case 5:
      return text.slice(0, at) + hostileJsonText(random).slice(0, 60) + text.slice(end);
    case 6:
      return (
        text.slice(0, at) +
        random.pick([
          '[',
          ']',
          '(',
          ')',
          '{',
          '}',
          '*',
          '_',
          '`',
          '>',
          '\n',
          '|',
          '$',
          '\\',
          '"',
          '%',
          '&',
          '=',
          ':',
          '#',
          '@',
          '<',
          '/',
          '~',
          ' ',
          '-',
        ]) +
        text.slice(at)
      );
    default:
      return text.slice(0, at) + text.slice(at).replace(/\d+/, () => String(random.pick([0, -1, 2 ** 31, 1e21, 999])));
  }
}
