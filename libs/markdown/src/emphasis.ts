import type { MarkdownIt, Token } from 'markdown-it';

const UNDERSCORE = 0x5f;

/** Asterisks only; `~~` is del; `***x***` is strong around em. */
export function emphasis(md: MarkdownIt): void {
  md.inline.ruler.before('emphasis', 'underscore', (state, silent) => {
    if (state.src.charCodeAt(state.pos) !== UNDERSCORE) return false;
    if (!silent) state.pending += '_';
    state.pos++;
    return true;
  });
  md.inline.ruler2.after('emphasis', 'strong_outside', (state) => putStrongOutside(state.tokens));
  md.renderer.rules.s_open = () => '<del>';
  md.renderer.rules.s_close = () => '</del>';
}

function putStrongOutside(tokens: Token[]): void {
  const visible = tokens.filter((token) => token.type !== 'text' || token.content !== '');
  const opened: number[] = [];
  for (let i = 0; i < visible.length; i++) {
    const token = visible[i];
    if (token === undefined || !(token.tag === 'em' || token.tag === 'strong')) continue;
    if (token.nesting === 1) {
      opened.push(i);
      continue;
    }
    const strongOpenAt = opened.pop();
    if (token.tag !== 'strong' || strongOpenAt === undefined) continue;
    const emOpen = visible[strongOpenAt - 1];
    const emClose = visible[i + 1];
    const strongOpen = visible[strongOpenAt];
    if (emOpen?.type !== 'em_open' || emClose?.type !== 'em_close' || strongOpen === undefined) continue;
    swapTag(emOpen, strongOpen);
    swapTag(token, emClose);
  }
}

function swapTag(a: Token, b: Token): void {
  [a.type, b.type] = [b.type, a.type];
  [a.tag, b.tag] = [b.tag, a.tag];
  [a.markup, b.markup] = [b.markup, a.markup];
}
