import { setImmediate } from 'node:timers/promises';
import { type Database, sql } from '@natter/database';
import { z } from 'zod';
import { headsIn, runsIn } from './alert-head.ts';

/**
 * The shared look-up of a send returns at most this many alert words. If a text may contain more, they are looked up for
 * it alone, so that an organization with many words does not delay the sends of others.
 */
export const sharedAlerts = 200;

/** An organization with more words that a text may contain gets no alerts for the words beyond. */
const maxWords = 10_000;
/**
 * Characters that are compared for one text, about 30 ms: a comparison of 100 characters takes about 270 ns. Of many
 * words, those without letters are compared last, because some hundreds of them use up the limit.
 */
const maxCompared = 20_000_000;
/** Milliseconds after which other work gets a turn. */
const turnMs = 4;
/** To begin a comparison, or to look at the characters beside a word, takes as long as a comparison of so many. */
const perLook = 100;
/** A search without runs skips most characters. */
const perSearched = 0.1;

const wordRow = z.object({ head: z.string(), word: z.string() });
const userRow = z.object({ user_id: z.number() });

/**
 * Users whose alert words occur in the text as separate words. `shared`: words that the text may contain, of which the
 * shared look-up found some or all.
 */
export async function alertedIn(
  database: Database,
  { realmId, content }: { realmId: number; content: string },
  shared: readonly { user_id: number; word: string }[],
): Promise<number[]> {
  if (shared.length === 0) return [];
  const occurs = separateWordsOf(content);
  if (shared.length < sharedAlerts) {
    // Many users may have the same word.
    const found = await occurring(new Set(shared.map(({ word }) => word)), occurs);
    return [...new Set(shared.filter(({ word }) => found.has(word)).map(({ user_id }) => user_id))];
  }
  const words = await database.any(sql.type(wordRow)`
    SELECT head, word FROM messaging.alert_word
    WHERE realm_id = ${realmId} AND head = ANY(${sql.array(headsIn(content), 'text')})
    GROUP BY head, word ORDER BY head = '', head, word LIMIT ${maxWords}`);
  const occurringWords = await occurring(
    words.map(({ word }) => word),
    occurs,
  );
  const found = words.filter(({ word }) => occurringWords.has(word));
  if (found.length === 0) return [];
  const users = await database.any(sql.type(userRow)`
    SELECT DISTINCT a.user_id FROM ${sql.unnest(
      found.map(({ head, word }) => [head, word]),
      ['text', 'text'],
    )} AS f (head, word) JOIN messaging.alert_word a ON a.realm_id = ${realmId} AND a.head = f.head AND a.word = f.word`);
  return users.map(({ user_id }) => user_id);
}

/** The words that occur. Other work has a turn whenever the comparison has taken a while. */
async function occurring(words: Iterable<string>, occurs: (word: string) => boolean): Promise<ReadonlySet<string>> {
  const found = new Set<string>();
  let turn = performance.now();
  for (const word of words) {
    if (performance.now() - turn > turnMs) {
      await setImmediate();
      turn = performance.now();
    }
    if (occurs(word)) found.add(word);
  }
  return found;
}

/**
 * Tells whether a word in lower case occurs in the text with no letter or digit beside it. Only the places of the word's
 * first run of letters are compared. A word without one may be anywhere: at worst, each of its characters is compared at
 * each place.
 */
export function separateWordsOf(content: string): (word: string) => boolean {
  const text = content.toLowerCase();
  const places = new Map<string, number[]>();
  for (const { run, at } of runsIn(text)) {
    const known = places.get(run);
    if (known) known.push(at);
    else places.set(run, [at]);
  }
  let compared = 0;
  const isLetter = (at: number): boolean => /[\p{L}\p{N}_]/u.test(text[at] ?? ' ');
  /** Whether so many characters may be compared. */
  const mayCompare = (count: number): boolean => {
    compared += count;
    return compared <= maxCompared;
  };
  const isSeparate = (word: string, at: number): boolean => !isLetter(at - 1) && !isLetter(at + word.length);
  return (word) => {
    const [first] = runsIn(word);
    if (!first) {
      if (!mayCompare(perSearched * text.length * word.length)) return false;
      for (let at = text.indexOf(word); at >= 0 && mayCompare(perLook); at = text.indexOf(word, at + 1))
        if (isSeparate(word, at)) return true;
      return false;
    }
    for (const place of places.get(first.run) ?? []) {
      if (!mayCompare(perLook + word.length)) return false;
      const at = place - first.at;
      if (at >= 0 && text.startsWith(word, at) && mayCompare(perLook) && isSeparate(word, at)) return true;
    }
    return false;
  };
}
