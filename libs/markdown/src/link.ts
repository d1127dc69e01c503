import { entity } from './entity.ts';
import { servedFrom } from './external-content.ts';
import type { Inline, InlineRule } from './inline.ts';
import { isAudioPath, isImagePath } from './media-url.ts';
import { element, type Node } from './node.ts';
import { spend } from './steps.ts';
import { relativeUrl, safeTarget } from './url.ts';

interface Target {
  href: string;
  title: string | undefined;
  /** The index after the closing parenthesis. */
  end: number;
}

/** `[text](url "title")`, whose text is not parsed further, and `![title](url)` of an image or audio file. */
export const link: InlineRule = (content, inline) => {
  if (!content.includes('](')) return content;
  const closing = closingBrackets(content);
  const lastParenthesis = content.lastIndexOf(')');
  let result = '';
  let at = 0;
  for (const [open, close] of closing) {
    if (open < at || content[close + 1] !== '(' || close > lastParenthesis) continue;
    const target = targetAt(content, close + 1, inline.run);
    const href = target && safeTarget(inline.source(target.href));
    if (target === undefined || href === undefined) continue;
    const isEmbedded = content[open - 1] === '!';
    const inner = content.slice(open + 1, close);
    const nodes = isEmbedded ? embedded(inner, href, inline) : linked(inner, { ...target, href }, inline);
    if (nodes === undefined) continue;
    const start = isEmbedded ? open - 1 : open;
    result += content.slice(at, start) + inline.mark(nodes, content.slice(start, target.end));
    at = target.end;
  }
  return result + content.slice(at);
};

function linked(inner: string, { href, title }: Omit<Target, 'end'>, inline: Inline): Node[] {
  const url = relativeUrl(href, inline.run.context.realmUrl);
  const shown = inner.trim() === '' ? url : inner;
  return [element('a', { href: url, ...(title === undefined ? {} : { title }) }, inline.expand(entity(shown, inline)))];
}

function embedded(inner: string, href: string, inline: Inline): Node[] | undefined {
  const { run } = inline;
  const { context } = run;
  if (context.previewMedia === false) return undefined;
  const url = relativeUrl(href, context.realmUrl);
  const isAudio = isAudioPath(url);
  if (!isAudio && !isImagePath(url)) return undefined;
  const src = servedFrom(url, context);
  if (src === undefined || run.mediaLeft === 0) return linked(inner, { href, title: undefined }, inline);
  run.mediaLeft--;
  const title = inline.source(inner);
  if (isAudio)
    return [element('audio', { controls: '', preload: 'metadata', src, ...(title === '' ? {} : { title }) })];
  return [element('img', { alt: title, class: 'inline-image', 'data-original-src': url, src })];
}

/** Pairs of matching brackets, in order of the opening ones. */
function closingBrackets(content: string): [number, number][] {
  const open: number[] = [];
  const pairs: [number, number][] = [];
  for (const match of content.matchAll(/[[\]]/g)) {
    if (match[0] === '[') open.push(match.index);
    else {
      const opened = open.pop();
      if (opened !== undefined) pairs.push([opened, match.index]);
    }
  }
  return pairs.sort(([a], [b]) => a - b);
}

const BRACKETED = /\(\s*<([^<>]*)>\s*(?:(?:'([^']*)'|"([^"]*)")\s*)?\)/y;
const MAX_TARGET_LENGTH = 2_000;

/** The content of the parentheses: an address with balanced parentheses, and a title in quotes. */
function targetAt(content: string, at: number, run: { stepsLeft: number }): Target | undefined {
  const inside = content.slice(at, at + MAX_TARGET_LENGTH);
  BRACKETED.lastIndex = 0;
  const bracketed = BRACKETED.exec(inside);
  if (bracketed) {
    const [whole, href = '', single, double] = bracketed;
    spend(run, whole.length);
    return { href: href.trim(), title: titleOf(single ?? double), end: at + whole.length };
  }
  let depth = 0;
  let titleTried = false;
  for (let i = 0; i < inside.length; i++) {
    const character = inside[i];
    if (character === '(') depth++;
    else if (character === ')' && --depth === 0) {
      spend(run, i);
      return { href: inside.slice(1, i).trim(), title: undefined, end: at + i + 1 };
    } else if ((character === '"' || character === "'") && !titleTried) {
      titleTried = true;
      const closing = titleEnd(inside, i, character);
      if (closing === undefined) continue;
      spend(run, closing.end);
      const title = titleOf(inside.slice(i + 1, closing.quote));
      return { href: inside.slice(1, i).trim(), title, end: at + closing.end };
    }
  }
  spend(run, inside.length);
  return undefined;
}

/** A quote ends a title if only blanks are between it and the closing parenthesis. */
function titleEnd(inside: string, open: number, quote: string): { quote: number; end: number } | undefined {
  for (let i = inside.indexOf(quote, open + 1); i >= 0; i = inside.indexOf(quote, i + 1)) {
    let end = i + 1;
    while (inside[end] === ' ') end++;
    if (inside[end] === ')') return { quote: i, end: end + 1 };
  }
  return undefined;
}

const titleOf = (title: string | undefined): string | undefined => title?.trim().replace(/\s/g, ' ');
