import { LRUCache } from 'lru-cache';
import { RE2JS } from 're2js';
import type { Linkifier } from './context.ts';
import { expandTemplate } from './url-template.ts';

export interface LinkifierMatch {
  start: number;
  end: number;
  text: string;
  url: string;
}

/**
 * Matching takes time linear in program size times text length; there is no backtracking. A program can still be large,
 * because counted repetitions are expanded, so compiling and matching run only where a time limit terminates them.
 */
const MAX_PATTERN_LENGTH = 1000;
const MAX_PROGRAM_SIZE = 3000;
/** Total instructions of cached programs; about 200 bytes each. */
const MAX_CACHED_SIZE = 100_000;

/** A match must follow a space or opening punctuation, and must not be followed by a letter or digit. */
const SPACES = String.raw`\s\x{b}\x{a0}\x{1680}\x{2000}-\x{200a}\x{2028}\x{2029}\x{202f}\x{205f}\x{3000}\x{feff}`;
const BEFORE = `(^|[${SPACES}'"(,:<])`;
const AFTER = String.raw`($|[^\pL\pN])`;
const MAY_PRECEDE = /[\s'"(,:<]/;
/** The group that contains the match without its surroundings. */
const MATCH = 2;

/** Without a program if the pattern is unusable. All organizations share the cache. */
const compiled = new LRUCache<string, { program: RE2JS | undefined }>({
  maxSize: MAX_CACHED_SIZE,
  sizeCalculation: ({ program }) => program?.programSize() ?? 1,
});

/** Undefined if the pattern is invalid, too large or not in RE2's syntax (no lookaround, no back references). */
export function compileLinkifier(pattern: string): RE2JS | undefined {
  const known = compiled.get(pattern);
  if (known) return known.program;
  const program = compile(pattern);
  compiled.set(pattern, { program });
  return program;
}

function compile(pattern: string): RE2JS | undefined {
  if (pattern.length > MAX_PATTERN_LENGTH) return undefined;
  try {
    // Compiled alone first: the pattern must not close the group into which it is inserted.
    RE2JS.compile(pattern);
    const program = RE2JS.compile(`${BEFORE}(${pattern})${AFTER}`);
    return program.programSize() > MAX_PROGRAM_SIZE ? undefined : program;
  } catch {
    return undefined;
  }
}

/** The matches of a linkifier, in order and without overlaps. */
export function findMatches(text: string, linkifier: Linkifier, limit: { matchesLeft: number }): LinkifierMatch[] {
  const program = text === '' ? undefined : compileLinkifier(linkifier.pattern);
  if (program === undefined) return [];
  const matcher = program.matcher(text);
  const names = Object.keys(program.namedGroups());
  const found: LinkifierMatch[] = [];
  for (let from = 0; limit.matchesLeft > 0 && from <= text.length && matcher.find(from); ) {
    const [start, end] = [matcher.start(MATCH), matcher.end(MATCH)];
    // The last character of a match may also precede the next one.
    from = end > start && end > 1 && MAY_PRECEDE.test(text[end - 1] ?? '') ? end - 1 : Math.max(end, start + 1);
    if (end === start) continue;
    const groups = new Map(names.flatMap((name) => groupOf(name, matcher.group(name))));
    limit.matchesLeft--;
    found.push({ start, end, text: text.slice(start, end), url: expandTemplate(linkifier.urlTemplate, groups) });
  }
  return found;
}

const groupOf = (name: string, value: string | null): [string, string][] => (value === null ? [] : [[name, value]]);
