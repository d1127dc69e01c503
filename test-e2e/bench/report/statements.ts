import { readFileSync, statSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { table } from './format.ts';

type Query = (text: string) => Promise<Record<string, unknown>[]>;

/** Records every statement of Postgres with its time until it is stopped: the statements of a scenario, by shape. */
export async function watchStatements(query: Query): Promise<() => Promise<string>> {
  const [row] = await query('SHOW data_directory');
  const log = join(dirname(String(row?.data_directory)), 'log');
  const from = statSync(log).size;
  await query(`ALTER SYSTEM SET log_min_duration_statement = 0`);
  await query('SELECT pg_reload_conf()');
  return async () => {
    await query('ALTER SYSTEM RESET log_min_duration_statement');
    await query('SELECT pg_reload_conf()');
    return byShape(readFileSync(log).subarray(from).toString('utf8'));
  };
}

function byShape(text: string): string {
  const shapes = new Map<string, { count: number; ms: number }>();
  // Lines that begin with a tab continue a statement.
  const entries = text.matchAll(
    /LOG: {2}duration: ([\d.]+) ms {2}(?:statement|parse|bind|execute)[^:]*: ((?:.|\n\t)*)/g,
  );
  for (const [, ms, statement] of entries) {
    const shape = shapeOf(statement ?? '');
    const known = shapes.get(shape) ?? { count: 0, ms: 0 };
    shapes.set(shape, { count: known.count + 1, ms: known.ms + Number(ms) });
  }
  const top = [...shapes].sort(([, a], [, b]) => b.ms - a.ms).slice(0, 25);
  return table([
    ['statement', 'times', 'ms in all', 'ms each'],
    ...top.map(([shape, { count, ms }]) => [shape, String(count), ms.toFixed(0), (ms / count).toFixed(3)]),
  ]);
}

const shapeOf = (statement: string): string =>
  statement
    .replace(/\s+/g, ' ')
    .replace(/'(?:[^']|'')*'/g, '?')
    .replace(/\b\d+\b/g, '?')
    .slice(0, 140)
    .trim();
