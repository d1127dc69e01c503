import { CODE_LANGUAGES } from './tables/code-languages.ts';
import { rowsOf } from './tables/rows.ts';

const nameByAlias = new Map(rowsOf(CODE_LANGUAGES).map(([alias = '', name = '']) => [alias, name] as const));
const aliasesByName = Map.groupBy(nameByAlias.keys(), (alias) => nameByAlias.get(alias) ?? '');

/** The display name; an unknown language keeps its name. */
export function languageName(alias: string): string {
  return nameByAlias.get(alias.toLowerCase()) ?? alias;
}

/**
 * Possible grammar names of this language, the most likely one first. A version ("Python 2.x") falls back to its
 * language, a combination ("HTML+PHP") to its parts.
 */
export function grammarNames(alias: string): string[] {
  const name = alias.toLowerCase();
  const language = nameByAlias.get(name) ?? '';
  const related = language.toLowerCase().replace(/ \d+\.x$/, '');
  return [name, ...(aliasesByName.get(language) ?? []), ...related.split('+').reverse()];
}
