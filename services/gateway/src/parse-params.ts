import { badRequest, ChatError, type Operation, type Param } from '@natter/contracts';
import type { Fields } from './request-fields.ts';
import { typeError } from './type-error.ts';

export interface Parsed {
  params: Record<string, unknown>;
  ignored: string[];
}

/** Turns form fields into the parameters an operation declares; names what it does not know (semantics of level 167). */
export function parseParams(operation: Operation, fields: Fields, path: Record<string, string>): Parsed {
  const params: Record<string, unknown> = {};
  const known = new Set<string>();
  for (const [name, param] of Object.entries(operation.params)) {
    // Given by the form's file.
    if (param.encoding === 'file') continue;
    const names = [name, ...param.aliases];
    const given = names.filter((candidate) => fields[candidate] !== undefined || path[candidate] !== undefined);
    for (const candidate of names) known.add(candidate);
    if (given.length > 1 && !given.some((candidate) => path[candidate] !== undefined))
      throw new ChatError('REQUEST_CONFUSING_VAR', `Can't decide between '${given[0]}' and '${given[1]}' arguments`, {
        var_name1: given[0],
        var_name2: given[1],
      });
    const from = given.find((candidate) => path[candidate] !== undefined) ?? given[0];
    if (from === undefined && param.required)
      throw new ChatError('REQUEST_VARIABLE_MISSING', `Missing '${name}' argument`, { var_name: name });
    const inPath = from === undefined ? undefined : path[from];
    const raw = inPath ?? (from === undefined ? undefined : fields[from]);
    const value = parseValue(from ?? name, param, raw, inPath !== undefined);
    if (value !== undefined) params[name] = value;
  }
  return { params, ignored: Object.keys(fields).filter((name) => !known.has(name)) };
}

function parseValue(name: string, param: Param, raw: unknown, isPath: boolean): unknown {
  const decoded = raw === undefined ? undefined : decode(name, param, raw, isPath);
  const result = param.schema.safeParse(decoded);
  if (result.success) return result.data;
  throw typeError(name, decoded, result.error.issues);
}

function decode(name: string, param: Param, raw: unknown, isPath: boolean): unknown {
  if (typeof raw !== 'string') throw badRequest(`${name} is not a string`);
  if (raw.includes('\0')) throw badRequest(`${name} contains a NUL character`);
  if (param.encoding === 'text') return raw;
  let value: unknown;
  try {
    value = JSON.parse(raw) as unknown;
  } catch {
    if (param.encoding === 'textOrJson' || isPath) return raw;
    throw badRequest(`${name} is not valid JSON`);
  }
  if (holds(value, (text) => text.includes('\0'))) throw badRequest(`${name} contains a NUL character`);
  if (holds(value, (text) => !text.isWellFormed())) throw badRequest(`${name} contains half a surrogate pair`);
  return value;
}

/** Whether a text of the value is like this: JSON can spell what Postgres cannot store. */
function holds(value: unknown, isBad: (text: string) => boolean): boolean {
  if (typeof value === 'string') return isBad(value);
  if (Array.isArray(value)) return value.some((item) => holds(item, isBad));
  if (typeof value === 'object' && value !== null)
    return Object.entries(value).some(([key, item]) => isBad(key) || holds(item, isBad));
  return false;
}
