import type { IncomingHttpHeaders } from 'node:http';
import {
  badRequest,
  ChatError,
  excessOf,
  holdsText,
  maxId,
  maxUnits,
  missingArgument,
  type Operation,
  type Param,
} from '@natter/contracts';
import { declaredForm } from './declared-form.ts';
import type { Fields } from './request-fields.ts';
import { typeError } from './type-error.ts';

export interface Parsed {
  params: Record<string, unknown>;
  ignored: string[];
}

/** Levels beyond those of the schema, so that a wrong type gets its own error, and ignored keys may contain lists. */
const ignoredLevels = 2;
/** Parts beyond those of the schema, so that a list that is a little too long is named as such. */
const moreParts = (parts: number): number => Math.ceil(parts * 1.125) + 500;

/**
 * Parses form fields into the operation's declared parameters; reports unknown fields in
 * `ignored_parameters_unsupported`.
 */
export function parseParams(
  operation: Operation,
  fields: Fields,
  path: Record<string, string>,
  headers: IncomingHttpHeaders = {},
): Parsed {
  const params: Record<string, unknown> = {};
  const form = declaredForm(operation);
  const isInPath = (name: string): boolean => path[name] !== undefined;
  const isField = (name: string): boolean => fields[name] !== undefined;
  for (const { key, param, names, isOmittable } of form.params) {
    if (param.header !== undefined) {
      const given = headers[param.header.toLowerCase()];
      if (given === undefined && param.required) throw missingArgument(param.header);
      const value = parseValue(param.header, param, given, false);
      if (value !== undefined) params[key] = value;
      continue;
    }
    const inPath = names.find(isInPath);
    const from = inPath ?? names.find(isField);
    if (from === undefined && param.required) throw missingArgument(key);
    if (from === undefined && isOmittable) continue;
    if (inPath === undefined && names.length > 1) refuseSecond(names.filter(isField));
    const raw = from === undefined ? undefined : (path[from] ?? fields[from]);
    const value = parseValue(from ?? key, param, raw, inPath !== undefined);
    if (value !== undefined) params[key] = value;
  }
  return { params, ignored: Object.keys(fields).filter((name) => !form.fieldNames.has(name)) };
}

function refuseSecond([first, second]: readonly string[]): void {
  if (second === undefined) return;
  throw new ChatError('REQUEST_CONFUSING_VAR', `Can't decide between '${first}' and '${second}' arguments`, {
    var_name1: first,
    var_name2: second,
  });
}

function parseValue(name: string, param: Param, raw: unknown, isPath: boolean): unknown {
  const decoded = raw === undefined ? undefined : decode(name, param, raw, isPath);
  const result = param.schema.safeParse(decoded);
  if (result.success) return result.data;
  // No row has the greatest ID, so an object with a greater one is missing like any other.
  const isGreaterId = result.error.issues.every((issue) => issue.code === 'too_big' && issue.maximum === maxId);
  if (isPath && isGreaterId) return parseValue(name, param, String(maxId), isPath);
  throw typeError(name, decoded, result.error.issues);
}

function decode(name: string, param: Param, raw: unknown, isPath: boolean): unknown {
  if (typeof raw !== 'string') throw badRequest(`${name} is not a string`);
  const max = maxUnits(param);
  if (raw.length > max)
    throw badRequest(
      `${name} is too long (limit: ${param.encoding === 'text' ? param.bound.characters : max} characters)`,
    );
  if (raw.includes('\0')) throw badRequest(`${name} contains a NUL character`);
  if (!raw.isWellFormed()) throw badRequest(`${name} contains half a surrogate pair`);
  if (param.encoding === 'text') return raw;
  const levels = param.bound.depth + ignoredLevels;
  const parts = moreParts(param.bound.parts);
  const excess = excessOf(raw, levels, parts);
  if (excess) {
    if (param.encoding === 'textOrJson') return raw;
    throw badRequest(
      excess === 'levels'
        ? `${name} is nested too deeply (limit: ${levels} levels)`
        : `${name} has too many items (limit: ${parts} in all)`,
    );
  }
  let value: unknown;
  try {
    value = JSON.parse(raw) as unknown;
  } catch {
    if (param.encoding === 'textOrJson' || isPath) return raw;
    throw badRequest(`${name} is not valid JSON`);
  }
  // Escapes may contain what the raw text does not, and Postgres stores neither.
  if (!raw.includes('\\u')) return value;
  if (holdsText(value, (text) => text.includes('\0'))) throw badRequest(`${name} contains a NUL character`);
  if (holdsText(value, (text) => !text.isWellFormed())) throw badRequest(`${name} contains half a surrogate pair`);
  return value;
}
