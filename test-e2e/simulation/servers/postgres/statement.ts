/** A statement without its constants: statements of one shape differ only in values. */
export interface Parsed {
  shape: string;
  values: unknown[];
}

/** Source of a value of a shape: a parameter, or a constant in the text. */
type Source = { parameter: number } | { constant: unknown };

const token = /E?'(?:[^'\\]|''|\\.)*'|"[^"]*"|\/\*.*?\*\/|\$(\d+)|\b\d+(?:\.\d+)?\b|;/gs;
const known = new Map<string, { shape: string; sources: Source[] }[]>();
const maxKnown = 2_000;

/** The statements of a text, in order. */
export function parseStatements(text: string, parameters: readonly unknown[]): Parsed[] {
  const statements = known.get(text) ?? read(text);
  // Texts with constants are all different.
  if (parameters.length > 0 && known.size < maxKnown) known.set(text, statements);
  return statements.map(({ shape, sources }) => ({
    shape,
    values: sources.map((source) => ('parameter' in source ? parameters[source.parameter - 1] : source.constant)),
  }));
}

function read(text: string): { shape: string; sources: Source[] }[] {
  const statements: { shape: string; sources: Source[] }[] = [];
  let shape = '';
  let sources: Source[] = [];
  let from = 0;
  const end = (): void => {
    const tidy = shape.replace(/\s+/g, ' ').replaceAll('( ', '(').replaceAll(' )', ')').trim();
    if (tidy !== '') statements.push({ shape: tidy, sources });
    shape = '';
    sources = [];
  };
  for (const match of text.matchAll(token)) {
    const [found, parameter] = match;
    shape += text.slice(from, match.index);
    from = match.index + found.length;
    if (found === ';') end();
    else if (found.startsWith('"')) shape += found;
    else if (parameter !== undefined) {
      sources.push({ parameter: Number(parameter) });
      shape += '?';
    } else if (!found.startsWith('/*')) {
      sources.push({ constant: constantOf(found) });
      shape += '?';
    }
  }
  shape += text.slice(from);
  end();
  return statements;
}

function constantOf(text: string): unknown {
  if (text.startsWith("E'")) return text.slice(2, -1).replaceAll("''", "'").replaceAll('\\\\', '\\');
  if (text.startsWith("'")) return text.slice(1, -1).replaceAll("''", "'");
  return Number(text);
}

/** A list, given as a parameter or as the text `{…}`. */
export function listOf<T>(value: unknown): T[] {
  if (Array.isArray(value)) return value as T[];
  return JSON.parse(`[${String(value).slice(1, -1)}]`) as T[];
}
