/** Checks answers against the contract. */
import { type ErrorCode, errorStatus, mayAnswer, type Operation, problemOfEvent } from '@natter/contracts';
import type { z } from 'zod';
import type { Call } from './call.ts';
import type { Answer } from './connection.ts';
import { definitionOf } from './values.ts';

/** Statuses of answers to invalid or unsupported HTTP. */
const transportStatuses = new Set([400, 405, 408, 413, 414, 415, 417, 421, 431]);
/** Fields of every successful answer. */
const common = new Set(['result', 'msg', 'ignored_parameters_unsupported']);

export interface Verdict {
  /** The problem; undefined if there is none. */
  problem: string | undefined;
  code: string;
  json: unknown;
}

type Json = Record<string, unknown>;

export function check(operation: Operation, call: Call, answer: Answer): Verdict {
  const { status, headers, body } = answer;
  if (status >= 500)
    return { problem: `status ${status}: ${body.toString('utf8', 0, 500)}`, code: String(status), json: undefined };
  const isJson = headers['content-type']?.startsWith('application/json') ?? false;
  let json: unknown;
  if (isJson && body.length > 0)
    try {
      json = JSON.parse(body.toString('utf8'));
    } catch {
      return { problem: 'the answer is no JSON', code: String(status), json };
    }
  const code = codeOf(status, json);
  const verdict = (problem: string | undefined): Verdict => ({ problem, code, json });
  const wasMutated = call.mutation !== undefined;
  if (call.method === 'HEAD' || call.method === 'OPTIONS') return verdict(undefined);
  if (status < 400) {
    // Another method, path or host is another operation.
    if (wasMutated || !operation.http || status !== 200) return verdict(undefined);
    return verdict(problemOfSuccess(operation, json));
  }
  if (!isJson) {
    const isFine = operation.page !== undefined || (wasMutated && transportStatuses.has(status)) || status === 416;
    return verdict(isFine ? undefined : `status ${status} without JSON: ${body.toString('utf8', 0, 200)}`);
  }
  return verdict(problemOfError(operation, status, json as Json, wasMutated));
}

function codeOf(status: number, json: unknown): string {
  if (status < 400) return String(status);
  const code = (json as Json | undefined)?.code;
  return typeof code === 'string' ? code : String(status);
}

function problemOfError(operation: Operation, status: number, json: Json, wasMutated: boolean): string | undefined {
  if (json.result !== 'error' || typeof json.msg !== 'string' || json.msg === '')
    return `an error without result and msg: ${JSON.stringify(json).slice(0, 300)}`;
  if (status === 405) return Array.isArray(json.allowed_methods) ? undefined : '405 without allowed_methods';
  const { code } = json;
  if (typeof code !== 'string' || !(code in errorStatus)) return `the code ${String(code)} is none`;
  const isNamedOtherwise =
    (code === 'BAD_REQUEST' && status === 404) || (code === 'REQUEST_TOO_LARGE' && status === 431) || status === 403;
  if (errorStatus[code as ErrorCode] !== status && !isNamedOtherwise) return `status ${status} for ${code}`;
  return mayAnswer(operation, code as ErrorCode) || wasMutated
    ? undefined
    : `${operation.name} does not declare ${code}: ${json.msg}`;
}

function problemOfSuccess(operation: Operation, json: unknown): string | undefined {
  if (typeof json !== 'object' || json === null) return 'success without an object';
  const answer = json as Json;
  if (answer.result !== 'success' || typeof answer.msg !== 'string') return 'success without result and msg';
  if (operation.name === 'get-events') return problemOfPoll(answer);
  const parsed = operation.result.safeParse(answer);
  if (!parsed.success) {
    const [issue] = parsed.error.issues;
    return `the answer is not as declared: ${issue?.path.join('.')}: ${issue?.message}`;
  }
  const extra = unexpected(operation.result, answer, '', common);
  return extra === undefined ? undefined : `the answer has an undeclared field: ${extra}`;
}

function problemOfPoll({ events, queue_id }: Json): string | undefined {
  if (!Array.isArray(events) || typeof queue_id !== 'string') return 'a poll without events or queue_id';
  for (const event of events) {
    const problem = problemOfEvent(event as Json);
    if (problem) return `an event is not as the catalogue has it: ${problem}: ${JSON.stringify(event).slice(0, 400)}`;
  }
  return undefined;
}

/** The first field that a closed schema does not contain. */
function unexpected(schema: z.core.$ZodType, value: unknown, path: string, allowed?: Set<string>): string | undefined {
  if (typeof value !== 'object' || value === null) return undefined;
  const definition = definitionOf(schema);
  switch (definition.type) {
    case 'optional':
    case 'nullable':
    case 'default':
    case 'readonly':
      return unexpected(definition.innerType, value, path, allowed);
    case 'object': {
      if (definition.catchall && definitionOf(definition.catchall).type !== 'never') return undefined;
      for (const [key, item] of Object.entries(value)) {
        const field = definition.shape[key];
        if (!field && !allowed?.has(key)) return `${path}.${key}`;
        const found = field && unexpected(field, item, `${path}.${key}`);
        if (found) return found;
      }
      return undefined;
    }
    case 'array':
      for (const item of (value as unknown[]).slice(0, 50)) {
        const found = unexpected(definition.element, item, `${path}[]`);
        if (found) return found;
      }
      return undefined;
    case 'record':
      for (const item of Object.values(value).slice(0, 50)) {
        const found = unexpected(definition.valueType, item, `${path}{}`);
        if (found) return found;
      }
      return undefined;
    case 'union': {
      const found = definition.options.map((option) => unexpected(option, value, path));
      return found.every((one) => one !== undefined) ? found[0] : undefined;
    }
    default:
      return undefined;
  }
}
