import { type Executor, sql } from '@natter/database';
import { z } from 'zod';

/** A search that Postgres and the highlighting understand. */
export interface Search {
  /** A tsquery. */
  query: string;
  /** The text, for the parts of it that are written without spaces. */
  text: string;
}

const queryRow = z.object({ query: z.string().nullable() });

/**
 * A search for all words, and for phrases in double quotes. Other operators of the web search syntax, a minus before a
 * word and the word "or", are treated as text. Undefined if nothing in the text can be found.
 */
export async function searchOf(executor: Executor, realmId: number, text: string): Promise<Search | undefined> {
  const terms = termsOf(text);
  if (terms.length === 0) return undefined;
  const { query } = await executor.one(sql.type(queryRow)`
    SELECT messaging.search_query(${realmId}, ${sql.array(terms, 'text')}, ${withoutOperators(text)})::text AS query`);
  return query === null || query === '' ? undefined : { query, text };
}

/** The search for messages that match all given searches; undefined if there are none. */
export const allOf = (searches: readonly Search[]): Search | undefined =>
  searches.length === 0
    ? undefined
    : {
        query: searches.map(({ query }) => `(${query})`).join(' & '),
        text: searches.map(({ text }) => text).join(' '),
      };

/** The phrases in double quotes, without repetitions. */
export const phrasesOf = (text: string): string[] => [
  ...new Set(
    partsOf(text)
      .filter((part) => part.isQuoted && part.text.trim() !== '')
      .map((part) => part.text.trim()),
  ),
];

/**
 * SQL condition on a message `m`: whether its content or topic contains each phrase of a search literally, including stop
 * words. Texts are long and phrases are few, so each text is converted to lower case once.
 */
export function holdsPhrases(text: string) {
  const phrases = phrasesOf(text);
  return phrases.length === 0
    ? sql.fragment`true`
    : sql.fragment`NOT EXISTS (
        SELECT FROM (SELECT lower(m.content) AS content, lower(m.topic) AS topic OFFSET 0) lowered,
          unnest(ARRAY(SELECT lower(given) FROM unnest(${sql.array(phrases, 'text')}) given)) phrase
        WHERE strpos(lowered.content, phrase) = 0 AND strpos(lowered.topic, phrase) = 0)`;
}

/** The words and phrases of a search, without repetitions. */
export const termsOf = (text: string): string[] => {
  const terms = partsOf(text).flatMap((part) =>
    part.isQuoted ? [part.text] : withoutOperator(part.text).split(/\s+/u),
  );
  return [...new Set(terms.filter((term) => /[\p{L}\p{N}]/u.test(term)))];
};

const withoutOperators = (text: string): string =>
  partsOf(text)
    .map((part) => (part.isQuoted ? `"${part.text}"` : withoutOperator(part.text)))
    .join(' ');

const withoutOperator = (text: string): string =>
  text.replace(/(?<=^|\s)-+/g, ' ').replace(/(?<=^|\s)or(?=\s|$)/gi, ' ');

/** An unclosed quote is ignored. */
function partsOf(text: string): { text: string; isQuoted: boolean }[] {
  const parts = text.split('"');
  return parts.map((part, index) => ({ text: part, isQuoted: index % 2 === 1 && index < parts.length - 1 }));
}
