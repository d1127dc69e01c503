import type { MarkdownIt, StateCore, Token } from 'markdown-it';
import { type RenderRun, runOf } from './context.ts';
import { emojiToken } from './emoji.ts';
import { findEmoticons } from './emoticon.ts';
import { findLinkifierMatches } from './linkifier.ts';
import { findEmoji, unicodeEmoji } from './unicode-emoji.ts';

interface Piece {
  start: number;
  end: number;
  tokens: () => Token[];
}

/** What is recognised in plain text once all markup is parsed: linkifiers, Unicode emoji, emoticons. */
export function textPieces(md: MarkdownIt): void {
  md.core.ruler.push('text_pieces', (state) => {
    const run = runOf(state.env);
    for (const block of state.tokens) {
      if (block.children !== null) block.children = splitTexts(block.children, state, run);
    }
  });
}

function splitTexts(tokens: Token[], state: StateCore, run: RenderRun): Token[] {
  let linkDepth = 0;
  return tokens.flatMap((token) => {
    if (token.type === 'link_open') linkDepth++;
    if (token.type === 'link_close') linkDepth--;
    return token.type === 'text' ? splitText(token, state, run, linkDepth > 0) : [token];
  });
}

function splitText(token: Token, state: StateCore, run: RenderRun, inLink: boolean): Token[] {
  const text = token.content;
  const pieces: Piece[] = [
    ...(inLink ? [] : linkifierPieces(text, state, run)),
    ...findEmoji(text).map((found) => ({
      ...found,
      tokens: () => [emojiToken(() => new state.Token('emoji', '', 0), found.name, found.code)],
    })),
    ...(run.context.translateEmoticons ? emoticonPieces(text, state) : []),
  ];
  if (pieces.length === 0) return [token];
  const split: Token[] = [];
  let at = 0;
  // A stable sort: at the same place the kind listed first wins.
  for (const piece of pieces.sort((a, b) => a.start - b.start)) {
    if (piece.start < at) continue;
    if (piece.start > at) split.push(textToken(text.slice(at, piece.start), state));
    split.push(...piece.tokens());
    at = piece.end;
  }
  if (at < text.length) split.push(textToken(text.slice(at), state));
  return split;
}

function linkifierPieces(text: string, state: StateCore, run: RenderRun): Piece[] {
  return findLinkifierMatches(text, run.context.linkifiers, run).map((match) => ({
    ...match,
    tokens: () => {
      const open = new state.Token('link_open', 'a', 1);
      open.attrSet('href', match.url);
      open.markup = 'linkifier';
      return [open, textToken(match.text, state), new state.Token('link_close', 'a', -1)];
    },
  }));
}

function emoticonPieces(text: string, state: StateCore): Piece[] {
  return findEmoticons(text).map((found) => ({
    ...found,
    tokens: () => [emojiToken(() => new state.Token('emoji', '', 0), found.name, unicodeEmoji(found.name) ?? '')],
  }));
}

function textToken(content: string, state: StateCore): Token {
  const token = new state.Token('text', '', 0);
  token.content = content;
  return token;
}
