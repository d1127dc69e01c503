import type { RenderContext } from './context.ts';
import { isSafeUrl } from './linkify.ts';
import { compilePattern, type Program } from './pattern-compiler.ts';
import { search } from './pattern-matcher.ts';
import { expandTemplate } from './url-template.ts';

export interface LinkifierMatch {
  start: number;
  end: number;
  text: string;
  url: string;
}

/** Bounds one rendering: matcher steps over all patterns, and links made. */
export interface LinkifierBudget {
  steps: number;
  matches: number;
}

const MAX_CACHED_PATTERNS = 1000;
const programs = new Map<string, Program | undefined>();

export function linkifierBudget(): LinkifierBudget {
  return { steps: 3_000_000, matches: 500 };
}

/** Whether the pattern is in the dialect that is matched here (RE2: no lookaround, no back reference). */
export function isLinkifierPattern(pattern: string): boolean {
  return programFor(pattern) !== undefined;
}

/** Matches that overlap none before them; at the same place the linkifier listed first wins. */
export function findLinkifierMatches(
  text: string,
  linkifiers: RenderContext['linkifiers'],
  budget: LinkifierBudget,
): LinkifierMatch[] {
  if (linkifiers.length === 0 || text === '') return [];
  const chars = [...text];
  const taken = new Uint8Array(chars.length);
  const found: { start: number; end: number; url: string }[] = [];
  for (const { pattern, urlTemplate } of linkifiers) {
    const program = programFor(pattern);
    if (program === undefined) continue;
    for (let from = 0; budget.matches > 0; ) {
      const match = search(program, chars, from, budget);
      if (match === undefined) break;
      from = Math.max(match.end, match.start + 1);
      const url = expandTemplate(urlTemplate, match.groups);
      if (match.end === match.start || taken.subarray(match.start, match.end).includes(1) || !isSafeUrl(url)) continue;
      taken.fill(1, match.start, match.end);
      budget.matches--;
      found.push({ start: match.start, end: match.end, url });
    }
  }
  return inText(chars, found);
}

/** From code points to UTF-16 positions. */
function inText(chars: string[], found: { start: number; end: number; url: string }[]): LinkifierMatch[] {
  if (found.length === 0) return [];
  const offsets = [0];
  for (const ch of chars) offsets.push((offsets.at(-1) ?? 0) + ch.length);
  return found
    .sort((a, b) => a.start - b.start)
    .map(({ start, end, url }) => ({
      start: offsets[start] ?? 0,
      end: offsets[end] ?? 0,
      text: chars.slice(start, end).join(''),
      url,
    }));
}

function programFor(pattern: string): Program | undefined {
  if (programs.has(pattern)) return programs.get(pattern);
  if (programs.size >= MAX_CACHED_PATTERNS) programs.clear();
  const program = compilePattern(pattern);
  programs.set(pattern, program);
  return program;
}
