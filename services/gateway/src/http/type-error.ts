import { badRequest, ChatError } from '@natter/contracts';
import type { z } from 'zod';

type Issue = z.core.$ZodIssue;

const kinds: Record<string, string> = {
  int: 'an integer',
  number: 'an integer',
  boolean: 'a boolean',
  string: 'a string',
  array: 'a list',
  tuple: 'a list',
  object: 'a dict',
  record: 'a dict',
  null: 'null',
};

/** The error for an invalid parameter value, with the message that Zulip clients expect. */
export function typeError(name: string, value: unknown, issues: readonly Issue[]): ChatError {
  const issue = deepest(issues);
  if (!issue) return badRequest(`Invalid ${name}`);
  const where = placed(name, issue.path);
  if (issue.code === 'too_small' && issue.minimum === 0 && issue.path.length === 0 && typeof value === 'number')
    return new ChatError('REQUEST_VARIABLE_INVALID', `Bad value for '${name}': ${value}`, {
      var_name: name,
      bad_value: String(value),
    });
  return badRequest(textOf(name, where, value, issue));
}

function textOf(name: string, where: string, value: unknown, issue: Issue): string {
  if (issue.code === 'invalid_type') {
    const last = issue.path.at(-1);
    if (valueAt(value, issue.path) === undefined && typeof last === 'string')
      return `${last} key is missing from ${placed(name, issue.path.slice(0, -1))}`;
    return `${where} is not ${kinds[issue.expected] ?? `a valid ${issue.expected}`}`;
  }
  if (issue.code === 'too_big' && issue.origin === 'string')
    return `${where} is too long (limit: ${issue.maximum} characters)`;
  if (issue.code === 'too_big' && (issue.origin === 'array' || issue.origin === 'object'))
    return `${where} has too many items (limit: ${issue.maximum})`;
  if (issue.code === 'too_small' && issue.origin === 'string' && issue.minimum === 1) return `${where} cannot be blank`;
  if (issue.code === 'too_big' && (issue.origin === 'int' || issue.origin === 'number'))
    return `${where} is too large (max ${issue.maximum})`;
  if (issue.code === 'invalid_union') return `${where} is not an allowed type`;
  return `Invalid ${where}`;
}

/** For a union, the branch that matched furthest determines the error. */
function deepest(issues: readonly Issue[]): Issue | undefined {
  const [issue] = issues;
  if (issue?.code !== 'invalid_union') return issue;
  const inner = issue.errors
    .map((branch) => deepest(branch))
    .filter((found): found is Issue => found !== undefined)
    .sort((a, b) => b.path.length - a.path.length || rank(b) - rank(a))[0];
  const isTelling = inner && (inner.path.length > 0 || inner.code !== 'invalid_type' || issue.errors.length === 1);
  return isTelling ? ({ ...inner, path: [...issue.path, ...inner.path] } as Issue) : issue;
}

const rank = (issue: Issue): number => (issue.code === 'invalid_type' ? 0 : 1);

const placed = (name: string, path: readonly PropertyKey[]): string =>
  name + path.map((step) => (typeof step === 'number' ? `[${step}]` : `["${String(step)}"]`)).join('');

function valueAt(value: unknown, path: readonly PropertyKey[]): unknown {
  let at = value;
  for (const step of path) at = (at as Record<PropertyKey, unknown> | null | undefined)?.[step];
  return at;
}
