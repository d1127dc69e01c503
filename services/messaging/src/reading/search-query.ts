import { sql } from '@natter/database';

/**
 * A search as Postgres takes it: all words, and phrases in double quotes. What its web search takes for operators besides, a
 * minus before a word and the word "or", is text like any other.
 */
export const searchQuery = (text: string) =>
  sql.fragment`websearch_to_tsquery('english'::regconfig, ${withoutOperators(text)})`;

export function withoutOperators(text: string): string {
  const parts = text.split('"');
  // An odd part stands in quotes; a last quote that nothing closes counts as none.
  const isQuoted = (index: number): boolean => index % 2 === 1 && index < parts.length - 1;
  return parts
    .map((part, index) =>
      isQuoted(index) ? `"${part}"` : part.replace(/(?<=^|\s)-+/g, ' ').replace(/(?<=^|\s)or(?=\s|$)/gi, ' '),
    )
    .join(' ');
}
