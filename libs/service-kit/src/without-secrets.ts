/** Names of fields that contain a credential, in lower case and without separators. */
const secrets = new Set([
  'apikey',
  'authorization',
  'cookie',
  'csrf',
  'csrfmiddlewaretoken',
  'csrftoken',
  'idempotencykey',
  'newpassword',
  'oldpassword',
  'password',
  'passwordhash',
  'proxyauthorization',
  'sealedkey',
  'sealedsession',
  'secret',
  'session',
  'sessionid',
  'sessiontoken',
  'setcookie',
  'token',
  'xcsrftoken',
]);
const maxDepth = 8;

const isSecret = (name: string): boolean =>
  secrets.has(
    name
      .replace(/^__host-/i, '')
      .replace(/[-_]/g, '')
      .toLowerCase(),
  );
const isPlain = (value: object): boolean => [Object.prototype, null].includes(Object.getPrototypeOf(value));

/** The fields of a log entry without credentials, at any depth. Errors have a serializer of their own. */
export function withoutSecrets(fields: Record<string, unknown>): Record<string, unknown> {
  return censored(fields, 0) as Record<string, unknown>;
}

function censored(value: unknown, depth: number): unknown {
  if (typeof value !== 'object' || value === null) return value;
  if (!Array.isArray(value) && !isPlain(value)) return value;
  if (depth >= maxDepth) return '[omitted]';
  if (Array.isArray(value)) return value.map((item) => censored(item, depth + 1));
  return Object.fromEntries(
    Object.entries(value).map(([name, field]) => [
      name,
      isSecret(name) && field !== undefined ? '[redacted]' : censored(field, depth + 1),
    ]),
  );
}
