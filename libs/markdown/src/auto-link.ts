import domains from 'tlds' with { type: 'json' };
import { entity } from './entity.ts';
import type { InlineRule } from './inline.ts';
import { element } from './node.ts';
import { spend } from './steps.ts';
import { relativeUrl, safeTarget } from './url.ts';

/** Top-level domains that usually are file name suffixes are not linked. */
const FILE_SUFFIXES = new Set(['java', 'md', 'mov', 'py', 'zip']);
const TOP_LEVEL = new Set(domains.filter((domain) => !FILE_SUFFIXES.has(domain)));

const MAY_PRECEDE = /['"(,:<]/;
const PUNCTUATION = '!:;?),.\'">';
const WITH_SCHEME = /^https?:\/\/[\p{L}\p{M}\p{N}_.:@-]+$/u;
const DOMAIN = /^(?:[\p{L}\p{M}\p{N}_-]+\.)+([\p{L}\p{M}\p{N}_-]+)$/u;
const MAIL = /^[\p{L}\p{M}\p{N}_.-]+@[\p{L}\p{M}\p{N}_.-]+\.[\p{L}\p{M}\p{N}_]+$/u;
const BITCOIN = /^bitcoin:[13][a-km-zA-HJ-NP-Z1-9]{25,34}$/;
/** A word with a sign that every address has before its last character. */
const MAY_BE_LINK = /(?<!\S)\S*?[./:@]\S+/g;

export interface FoundUrl {
  start: number;
  end: number;
  url: string;
}

/** Bare addresses: up to the next space, without trailing punctuation, with balanced parentheses. */
export const autoLink: InlineRule = (content, inline) => {
  let result = '';
  let at = 0;
  for (const { start, end, url } of findUrls(content, inline.run)) {
    const href = safeTarget(url);
    if (href === undefined) continue;
    const shown = inline.expand(entity(url, inline));
    const link = element('a', { href: relativeUrl(href, inline.run.context.realmUrl) }, shown);
    result += content.slice(at, start) + inline.mark([link], url);
    at = end;
  }
  return result + content.slice(at);
};

export function findUrls(content: string, run: { stepsLeft: number }): FoundUrl[] {
  if (content.search(MAY_BE_LINK) < 0) return [];
  return [...content.matchAll(MAY_BE_LINK)].flatMap((match) => {
    const [word] = match;
    const found = urlIn(word, run);
    return found ? [{ start: match.index + found.start, end: match.index + found.end, url: found.url }] : [];
  });
}

/** A word contains at most one address, which ends before trailing punctuation. */
function urlIn(word: string, run: { stepsLeft: number }): FoundUrl | undefined {
  let least = word.length;
  while (PUNCTUATION.includes(word[least - 1] ?? ' ')) least--;
  for (let start = 0; start < least; start++) {
    if (start > 0 && !MAY_PRECEDE.test(word[start - 1] ?? '')) continue;
    if (PUNCTUATION.includes(word[start] ?? '')) continue;
    spend(run, word.length - start);
    const end = endOf(word, start, least);
    if (end !== undefined) return { start, end, url: word.slice(start, end) };
  }
  return undefined;
}

/** The shortest address from `start` that is followed only by punctuation. */
function endOf(word: string, start: number, least: number): number | undefined {
  const offset = word[start] === 'h' ? (/^https?:\/\//.exec(word.slice(start, start + 8))?.[0].length ?? 0) : 0;
  const slash = word.indexOf('/', start + offset);
  const hostEnd = slash < 0 || slash >= least ? least : slash;
  const host = word.slice(start, hostEnd);
  if (!isHost(host)) return hostEnd === least && (MAIL.test(host) || BITCOIN.test(host)) ? least : undefined;
  return hostEnd === least ? least : pathEnd(word, hostEnd, least);
}

function isHost(host: string): boolean {
  if (WITH_SCHEME.test(host)) return true;
  const domain = DOMAIN.exec(host)?.[1];
  return domain !== undefined && TOP_LEVEL.has(domain);
}

const MAX_PARENTHESES = 7;

/** A path contains no quote, and balanced parentheses, so it may include some of the trailing punctuation. */
function pathEnd(word: string, from: number, least: number): number | undefined {
  let depth = 0;
  for (let at = from; at <= word.length; at++) {
    if (at >= least && depth === 0) return at;
    const character = word[at];
    if (character === '"' || character === '\u0002') return undefined;
    if (character === '(' && ++depth > MAX_PARENTHESES) return undefined;
    if (character === ')' && --depth < 0) return undefined;
  }
  return undefined;
}
