import { parseArgs } from 'node:util';
import type { Output } from './output.ts';

export interface Command {
  /** The one or two words that select the command. */
  name: string;
  usage: string;
  summary: string;
  /** Returns the exit code. */
  run(args: string[], output: Output): Promise<number>;
}

/** The command line is invalid; the usage is shown. */
export class UsageError extends Error {
  override name = 'UsageError';
}

/** Parses `--name value` options; positional arguments are refused. */
export function readOptions<R extends string, O extends string>(
  args: string[],
  required: readonly R[],
  optional: readonly O[],
  flags: readonly string[] = [],
): Record<R, string> & Partial<Record<O, string>> & { flags: ReadonlySet<string> } {
  const names = [...required, ...optional];
  const options = Object.fromEntries([
    ...names.map((name) => [name, { type: 'string' as const }]),
    ...flags.map((name) => [name, { type: 'boolean' as const }]),
  ]);
  let values: Record<string, string | boolean | undefined>;
  try {
    ({ values } = parseArgs({ args, options, strict: true }) as { values: typeof values });
  } catch (error) {
    throw new UsageError(error instanceof Error ? error.message : String(error));
  }
  for (const name of required) if (values[name] === undefined) throw new UsageError(`--${name} is missing`);
  const strings = Object.fromEntries(
    names.flatMap((name) => (values[name] === undefined ? [] : [[name, values[name]]])),
  );
  return Object.assign(strings as Record<R, string> & Partial<Record<O, string>>, {
    flags: new Set(flags.filter((flag) => values[flag] === true)),
  });
}

export function requireEnv(name: string, what: string): string {
  const value = process.env[name];
  if (!value) throw new Error(`${name} is missing: ${what}`);
  return value;
}
