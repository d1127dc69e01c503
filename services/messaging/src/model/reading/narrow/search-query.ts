import { sql } from '@natter/database';

/**
 * A search query for Postgres: all words, and phrases in double quotes. Other operators of its web search syntax, a
 * minus before a word and the word "or", are treated as text.
 */
export const searchQuery = (text: string) =>
  sql.fragment`websearch_to_tsquery('english'::regconfig, ${withoutOperators(text)})`;

/** Over a message `m`: whether it contains the phrases of a search literally, including stop words. */
export function holdsPhrases(text: string) {
  const patterns = partsOf(text)
    .filter((part) => part.isQuoted && part.text.trim() !== '')
    .map((part) => `%${part.text.trim().replace(/[\\%_]/g, '\\$&')}%`);
  return patterns.length === 0
    ? sql.fragment`true`
    : sql.fragment`(m.content ILIKE ALL (${sql.array(patterns, 'text')}) OR m.topic ILIKE ALL (${sql.array(patterns, 'text')}))`;
}

export const withoutOperators = (text: string): string =>
  partsOf(text)
    .map((part) =>
      part.isQuoted ? `"${part.text}"` : part.text.replace(/(?<=^|\s)-+/g, ' ').replace(/(?<=^|\s)or(?=\s|$)/gi, ' '),
    )
    .join(' ');

/** An unclosed quote is ignored. */
function partsOf(text: string): { text: string; isQuoted: boolean }[] {
  const parts = text.split('"');
  return parts.map((part, index) => ({ text: part, isQuoted: index % 2 === 1 && index < parts.length - 1 }));
}
