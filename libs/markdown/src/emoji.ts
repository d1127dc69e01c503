import type { MarkdownIt, Token } from 'markdown-it';
import { type FoundEmoji, runOf } from './context.ts';

const NAME = /:([\w+-]{1,100}):/y;

type Emoji = { name: string; image: FoundEmoji };

/** `:name:`; how emoji of any origin look. */
export function emoji(md: MarkdownIt): void {
  md.inline.ruler.before('emphasis', 'emoji', (state, silent) => {
    if (state.src[state.pos] !== ':') return false;
    NAME.lastIndex = state.pos;
    const match = NAME.exec(state.src);
    const name = match?.[1];
    if (match === null || name === undefined || NAME.lastIndex > state.posMax) return false;
    const found = runOf(state.env).find.emoji(name);
    if (found === undefined) return false;
    if (!silent) {
      state.push('emoji', '', 0).meta = {
        name,
        image: found,
      } satisfies Emoji;
    }
    state.pos += match[0].length;
    return true;
  });
  md.renderer.rules.emoji = (tokens, index) => html(tokens[index]?.meta as Emoji, md);
}

/** Makes the token of a Unicode emoji that was not written by name. */
export function emojiToken(makeToken: () => Token, name: string, code: string): Token {
  const token = makeToken();
  token.meta = { name, image: { kind: 'unicode', code } } satisfies Emoji;
  return token;
}

function html({ name, image }: Emoji, md: MarkdownIt): string {
  const { escapeHtml } = md.utils;
  const title = escapeHtml(name.replaceAll('_', ' '));
  const source = `:${escapeHtml(name)}:`;
  if (image.kind === 'realm')
    return `<img alt="${source}" class="emoji" src="${escapeHtml(image.url)}" title="${title}">`;
  return `<span aria-label="${title}" class="emoji emoji-${escapeHtml(image.code)}" role="img" title="${title}">${source}</span>`;
}
