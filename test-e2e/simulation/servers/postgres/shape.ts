import type { Call, Result } from './call.ts';

/** Executes statements whose shape has this beginning; parts in parentheses are passed as `names`. */
export type Shape = [beginning: RegExp, execute: (call: Call, ...names: string[]) => Result | Promise<Result>];

export const rowsOf = (...rows: Record<string, unknown>[]): Result => ({
  rows,
  rowCount: rows.length,
  fields: Object.keys(rows[0] ?? {}).map((name) => ({ name })),
});
export const changed = (rowCount: number): Result => ({ rows: [], rowCount, fields: [] });
