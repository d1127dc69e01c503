import { RE2JS } from 're2js';
import type { Linkifier } from './context.ts';
import { isSafeUrl } from './linkify.ts';
import { expandTemplate } from './url-template.ts';

export interface LinkifierMatch {
  start: number;
  end: number;
  text: string;
  url: string;
}

/**
 * Patterns are matched in time linear in program size times text length, never by backtracking. A program can still be large,
 * because counted repetitions are written out, so both compiling and matching run where a time limit ends them.
 */
const MAX_PATTERN_LENGTH = 1000;
const MAX_PROGRAM_SIZE = 3000;
/** Instructions of all programs kept compiled; some 200 bytes each. */
const MAX_CACHED_SIZE = 100_000;

/** A match stands alone: after a space or opening punctuation, before anything but a letter or digit. */
const SPACES = String.raw`\s\x{b}\x{a0}\x{1680}\x{2000}-\x{200a}\x{2028}\x{2029}\x{202f}\x{205f}\x{3000}\x{feff}`;
const BEFORE = `(^|[${SPACES}'"(,:<])`;
const AFTER = String.raw`($|[^\pL\pN])`;
const MAY_PRECEDE = /[\s'"(,:<]/;
/** The group that holds the match without what stands around it. */
const MATCH = 2;

const programs = new Map<string, RE2JS | undefined>();
let cachedSize = 0;

/** Undefined when the pattern is faulty, too large or not in RE2's syntax (no lookaround, no back reference). */
export function compileLinkifier(pattern: string): RE2JS | undefined {
  if (programs.has(pattern)) return programs.get(pattern);
  const program = compile(pattern);
  cachedSize += program?.programSize() ?? 1;
  if (cachedSize > MAX_CACHED_SIZE) {
    programs.clear();
    cachedSize = program?.programSize() ?? 1;
  }
  programs.set(pattern, program);
  return program;
}

function compile(pattern: string): RE2JS | undefined {
  if (pattern.length > MAX_PATTERN_LENGTH) return undefined;
  try {
    // By itself first: it must not close the group that it is put into.
    RE2JS.compile(pattern);
    const program = RE2JS.compile(`${BEFORE}(${pattern})${AFTER}`);
    return program.programSize() > MAX_PROGRAM_SIZE ? undefined : program;
  } catch {
    return undefined;
  }
}

/** Matches that overlap none before them; at the same place the linkifier listed first wins. */
export function findLinkifierMatches(
  text: string,
  linkifiers: readonly Linkifier[],
  limit: { matchesLeft: number },
): LinkifierMatch[] {
  if (linkifiers.length === 0 || text === '') return [];
  const taken = new Uint8Array(text.length);
  const found: LinkifierMatch[] = [];
  for (const { pattern, urlTemplate } of linkifiers) {
    const program = compileLinkifier(pattern);
    if (program === undefined) continue;
    const matcher = program.matcher(text);
    const names = Object.keys(program.namedGroups());
    for (let from = 0; limit.matchesLeft > 0 && from <= text.length && matcher.find(from); ) {
      const [start, end] = [matcher.start(MATCH), matcher.end(MATCH)];
      // The last character of a match may also precede the next one.
      from = end > start && end > 1 && MAY_PRECEDE.test(text[end - 1] ?? '') ? end - 1 : Math.max(end, start + 1);
      const groups = new Map(names.flatMap((name) => groupOf(name, matcher.group(name))));
      const url = expandTemplate(urlTemplate, groups);
      if (end === start || taken.subarray(start, end).includes(1) || !isSafeUrl(url)) continue;
      taken.fill(1, start, end);
      limit.matchesLeft--;
      found.push({ start, end, text: text.slice(start, end), url });
    }
  }
  return found.sort((a, b) => a.start - b.start);
}

const groupOf = (name: string, value: string | null): [string, string][] => (value === null ? [] : [[name, value]]);
