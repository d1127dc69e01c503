import { type Executor, sql } from '@natter/database';
import { z } from 'zod';
import type { Search } from './narrow/search-query.ts';
import { piecesOfHtml, unspacedRuns } from './narrow/unspaced.ts';
import { createRunFinder, type RunFinder } from './run-finder.ts';

/** Marks in HTML what a search finds. Tags are left as they are, because an attribute cannot contain markup. */
export type Highlight = (html: string) => string;

/** Words of a page that are compared. Others are not marked; only a page of very long texts has more. */
const maxAsciiWords = 100_000;
/** A word with other characters takes 15 times as long. */
const maxOtherWords = 10_000;

const wordRow = z.object({ word: z.string() });

/** Asks Postgres which words of these texts the search finds, so that exactly those are marked. */
export async function highlightFor(
  executor: Executor,
  realmId: number,
  search: Search,
  texts: readonly string[],
): Promise<Highlight> {
  const words = firstOf(new Set(texts.flatMap(wordsOf)));
  const rows = await executor.any(sql.type(wordRow)`
    SELECT word FROM messaging.search_matches(${realmId}, ${search.query}::tsquery, ${sql.array(words, 'text')}) word`);
  const found = new Set(rows.map(({ word }) => word));
  const runs = search.text.normalize('NFKC').toLowerCase().match(unspacedRuns) ?? [];
  const finder = createRunFinder(runs);
  return (html) => marked(html, found, finder);
}

function firstOf(words: ReadonlySet<string>): string[] {
  const [ascii = [], others = []] = [true, false].map((isAscii) =>
    [...words].filter((word) => /^[\0-\x7f]*$/.test(word) === isAscii),
  );
  return [...ascii.slice(0, maxAsciiWords), ...others.slice(0, maxOtherWords)];
}

const piecesOf = (html: string): string[] => html.match(piecesOfHtml) ?? [];
const isText = (piece: string): boolean => !piece.startsWith('<') && !piece.startsWith('&');
const isUnspaced = (piece: string): boolean => piece.search(unspacedRuns) === 0;

/** The words of a text, and the parts of names such as userName and E1234. */
export const wordsOf = (html: string): string[] =>
  piecesOf(html)
    .filter((piece) => isText(piece) && !isUnspaced(piece))
    .flatMap((word) => [...new Set([word, ...partsOf(word)])]);

const partsOf = (word: string): string[] =>
  word.split(/(?<=[a-z])(?=[A-Z])|(?<=[A-Za-z])(?=[0-9])|(?<=[0-9])(?=[A-Za-z])/);

/** `found`: words, `finder`: of normalized texts without spaces. */
export function marked(html: string, found: ReadonlySet<string>, finder: RunFinder): string {
  return html.replace(piecesOfHtml, (piece) => {
    if (!isText(piece)) return piece;
    if (isUnspaced(piece)) return markedRun(piece, finder);
    if (found.has(piece)) return mark(piece);
    const parts = partsOf(piece);
    return parts.length === 1 ? piece : parts.map((part) => (found.has(part) ? mark(part) : part)).join('');
  });
}

const mark = (text: string): string => `<span class="highlight">${text}</span>`;

/**
 * Characters with their marks: normalizing does not join or divide them further. Normalizing takes time quadratic in the
 * number of marks, so it is limited. No language has characters with as many.
 */
const units = /.[\p{M}\uff9e\uff9f]{0,30}/gsu;

function markedRun(piece: string, finder: RunFinder): string {
  const characters = piece.match(units) ?? [];
  const normal = characters.map((character) => character.normalize('NFKC').toLowerCase());
  const isMarked = finder(normal.join(''));
  let [result, group, at] = ['', '', 0];
  characters.forEach((character, index) => {
    const length = normal[index]?.length ?? 0;
    const isInside = isMarked.subarray(at, at + length).includes(1);
    at += length;
    if (isInside) group += character;
    else {
      result += (group === '' ? '' : mark(group)) + character;
      group = '';
    }
  });
  return result + (group === '' ? '' : mark(group));
}
