import { ChatError, type Operation, type Param } from '@natter/contracts';

export interface Parsed {
  params: Record<string, unknown>;
  ignored: string[];
}

/** Turns form fields into the parameters an operation declares; names what it does not know (semantics of level 167). */
export function parseParams(
  operation: Operation,
  fields: Record<string, unknown>,
  path: Record<string, string>,
): Parsed {
  const params: Record<string, unknown> = {};
  const known = new Set<string>();
  for (const [name, param] of Object.entries(operation.params)) {
    const names = [name, ...param.aliases];
    const given = names.filter((candidate) => fields[candidate] !== undefined || path[candidate] !== undefined);
    for (const candidate of names) known.add(candidate);
    if (given.length > 1)
      throw new ChatError('REQUEST_CONFUSING_VAR', `Can't decide between '${given[0]}' and '${given[1]}' arguments`, {
        var_name1: given[0],
        var_name2: given[1],
      });
    const [from] = given;
    if (from === undefined && param.required)
      throw new ChatError('REQUEST_VARIABLE_MISSING', `Missing '${name}' argument`, { var_name: name });
    const value = parseValue(name, param, from === undefined ? undefined : (path[from] ?? fields[from]));
    if (value !== undefined) params[name] = value;
  }
  return { params, ignored: Object.keys(fields).filter((name) => !known.has(name)) };
}

function parseValue(name: string, param: Param, raw: unknown): unknown {
  const decoded = raw === undefined ? undefined : decode(name, param, raw);
  const result = param.schema.safeParse(decoded);
  if (result.success) return result.data;
  const issue = result.error.issues[0];
  const where = issue?.path.map((step) => `[${String(step)}]`).join('') ?? '';
  throw new ChatError('BAD_REQUEST', `Invalid ${name}${where}: ${issue?.message ?? 'bad value'}`);
}

function decode(name: string, param: Param, raw: unknown): unknown {
  if (typeof raw !== 'string') throw new ChatError('BAD_REQUEST', `${name} is not a string`);
  if (raw.includes('\0')) throw new ChatError('BAD_REQUEST', `${name} contains a NUL character`);
  if (param.encoding === 'text') return raw;
  try {
    return JSON.parse(raw) as unknown;
  } catch {
    if (param.encoding === 'textOrJson') return raw;
    throw new ChatError('BAD_REQUEST', `Argument "${name}" is not valid JSON.`);
  }
}
