/** The parts of an error that may be logged: no user content and no credentials. */
export interface LoggedError {
  type: string;
  message: string;
  stack?: string;
  cause?: LoggedError;
  errors?: LoggedError[];
  [name: string]: unknown;
}

/**
 * Names of database objects, and codes. Everything else is omitted: rows and values (`detail`, `where`,
 * `internalQuery`, `parameters`), arguments of commands, answers of mail servers.
 */
const permitted = [
  'code',
  'status',
  'severity',
  'schema',
  'table',
  'column',
  'constraint',
  'routine',
  'syscall',
  'errno',
  'responseCode',
] as const;
const maxMessage = 1_000;
const maxDepth = 5;
const maxErrors = 10;

/** The serializer of errors for all logs. */
export function loggedError(error: unknown, depth = 0): LoggedError {
  if (!(error instanceof Error)) return { type: typeof error, message: 'not an error' };
  const properties = error as Error & Record<string, unknown>;
  const kept = permitted.flatMap((name) => {
    const value = properties[name];
    return typeof value === 'string' || typeof value === 'number' ? [[name, value] as const] : [];
  });
  const frames = (error.stack ?? '').split('\n').filter((line) => /^\s+at /.test(line));
  const isDeeper = depth < maxDepth;
  return {
    type: error.name,
    message: withoutValues(error.message, String(properties.code ?? '')),
    ...Object.fromEntries(kept),
    ...(frames.length > 0 ? { stack: frames.join('\n') } : {}),
    ...(error.cause !== undefined && isDeeper ? { cause: loggedError(error.cause, depth + 1) } : {}),
    ...(error instanceof AggregateError && isDeeper
      ? { errors: error.errors.slice(0, maxErrors).map((one) => loggedError(one, depth + 1)) }
      : {}),
  };
}

/** SQLSTATE class 22 and syntax errors: their messages quote values. Messages of other classes quote names. */
const quotesValues = /^(?:22...|42601)$/;
/** Addresses of people, and URLs with credentials. */
const address = /[^\s<>"'(),;]+@[^\s<>"'(),;]+/g;

function withoutValues(message: string, code: string): string {
  const text = message.slice(0, maxMessage).replace(address, '[address]');
  return quotesValues.test(code) ? text.replace(/".*"/s, '"[value]"').replace(/: [^"]*$/, ': [value]') : text;
}
