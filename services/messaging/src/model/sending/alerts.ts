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
/** Characters that are compared for one text. A comparison of 100 characters takes about 50 ns. */
const maxCompared = 200_000_000;
/** Milliseconds after which other work gets a turn. */
const turnMs = 4;
const wordsBetweenLooks = 20;

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
  if (shared.length < sharedAlerts)
    return [...new Set(shared.filter(({ word }) => occurs(word)).map(({ user_id }) => user_id))];
  const words = await database.any(sql.type(wordRow)`
    SELECT DISTINCT head, word FROM messaging.alert_word
    WHERE realm_id = ${realmId} AND head = ANY(${sql.array(headsIn(content), 'text')}) ORDER BY head, word LIMIT ${maxWords}`);
  const found: { head: string; word: string }[] = [];
  let turn = performance.now();
  for (const [index, one] of words.entries()) {
    if (index % wordsBetweenLooks === 0 && performance.now() - turn > turnMs) {
      await setImmediate();
      turn = performance.now();
    }
    if (occurs(one.word)) found.push(one);
  }
  if (found.length === 0) return [];
  const users = await database.any(sql.type(userRow)`
    SELECT DISTINCT a.user_id FROM ${sql.unnest(
      found.map(({ head, word }) => [head, word]),
      ['text', 'text'],
    )} AS f (head, word) JOIN messaging.alert_word a ON a.realm_id = ${realmId} AND a.head = f.head AND a.word = f.word`);
  return users.map(({ user_id }) => user_id);
}

/**
 * Tells whether a word in lower case occurs in the text with no letter or digit beside it. Only the places of the word's
 * first run of letters are compared.
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
  const isSeparate = (word: string, at: number): boolean => !isLetter(at - 1) && !isLetter(at + word.length);
  return (word) => {
    const [first] = runsIn(word);
    if (first)
      for (const place of places.get(first.run) ?? []) {
        compared += word.length;
        if (compared > maxCompared) return false;
        const at = place - first.at;
        if (at >= 0 && text.startsWith(word, at) && isSeparate(word, at)) return true;
      }
    else
      for (let at = text.indexOf(word); at >= 0; at = text.indexOf(word, at + 1)) if (isSeparate(word, at)) return true;
    return false;
  };
}
