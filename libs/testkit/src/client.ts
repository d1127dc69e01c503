import { randomUUID } from 'node:crypto';
import { Agent, request } from 'node:http';
import type { Form, Json } from './json.ts';
import { Queue } from './queue.ts';

export interface Answer {
  status: number;
  body: Json;
  headers: Record<string, string | string[] | undefined>;
}

/**
 * Closes idle connections before the gateway does (after 75 s). Without a timeout of its own, an agent ignores the
 * timeout that the server announces, and a request may meet a connection that is being closed.
 */
const agent = new Agent({ keepAlive: true, timeout: 30_000 });

/** Number of requests of clients that are sent again if they are answered with 503, and those that were. */
export const asked: { requests: number; repeated: string[] } = { requests: 0, repeated: [] };

/**
 * A bare client of the HTTP API. Strings are sent as they are, all other values as JSON, undefined values are omitted;
 * in the query for GET, otherwise in the body.
 */
export class Client {
  readonly url: string;
  readonly host: string;
  readonly user_id: number;
  readonly email: string;
  readonly full_name: string;
  api_key: string;
  readonly #password: string | undefined;

  constructor(
    at: { url: string; host: string },
    who?: { user_id: number; email: string; api_key: string; full_name: string; password?: string | undefined },
  ) {
    this.url = at.url;
    this.host = at.host;
    this.user_id = who?.user_id ?? 0;
    this.email = who?.email ?? '';
    this.full_name = who?.full_name ?? '';
    this.#password = who instanceof Client ? who.#password : who?.password;
    this.api_key = who?.api_key ?? '';
  }

  get password(): string {
    if (this.#password === undefined)
      throw new Error('This person has no password: openRealm({ havePasswords: true })');
    return this.#password;
  }

  /**
   * Sent again if answered with 503, like `patiently`, but without a key of its own: a write that is answered with 503
   * and takes effect all the same is done twice. Tests of a 503 use `send`.
   */
  get = (path: string, form: Form = {}, headers: Record<string, string> = {}) =>
    this.#served('GET', path, form, headers);
  post = (path: string, form: Form = {}, headers: Record<string, string> = {}) =>
    this.#served('POST', path, form, headers);
  patch = (path: string, form: Form = {}, headers: Record<string, string> = {}) =>
    this.#served('PATCH', path, form, headers);
  put = (path: string, form: Form = {}, headers: Record<string, string> = {}) =>
    this.#served('PUT', path, form, headers);
  delete = (path: string, form: Form = {}, headers: Record<string, string> = {}) =>
    this.#served('DELETE', path, form, headers);

  /** Like `patiently`, but throws unless the request succeeded; returns the body. */
  async ok(method: string, path: string, form: Form = {}): Promise<Json> {
    const { status, body } = await this.patiently(method, path, form);
    if (status !== 200) throw new Error(`${method} ${path}: ${status} ${JSON.stringify(body)}`);
    return body;
  }

  /**
   * Repeats the request while the answer is 503, because it may exceed its deadline on a busy machine. Each attempt has
   * the same idempotency key (the given one, or a new one), so the request takes effect once. `few-repetitions.ts` limits
   * the number of repeated requests of a test file.
   */
  patiently(method: string, path: string, form: Form = {}, given: Record<string, string> = {}): Promise<Answer> {
    const isRead = method === 'GET' || method === 'HEAD';
    // A local id of a queue has the effect of an idempotency key.
    const hasNames = form.queue_id !== undefined && form.local_id !== undefined;
    const needsKey = !isRead && !hasNames && given['idempotency-key'] === undefined;
    return this.#served(method, path, form, { ...given, ...(needsKey ? { 'idempotency-key': randomUUID() } : {}) });
  }

  async #served(method: string, path: string, form: Form, headers: Record<string, string>): Promise<Answer> {
    const until = Date.now() + 120_000;
    asked.requests++;
    for (let attempt = 0; ; attempt++) {
      const answer = await this.send(method, path, form, headers);
      if (answer.status !== 503 || Date.now() > until) return answer;
      if (attempt === 0) asked.repeated.push(`${method} ${path}`);
      await new Promise((resolve) => setTimeout(resolve, 200));
    }
  }

  /** Registers a queue; use its methods to follow it. */
  async queue(form: Form = {}): Promise<Queue> {
    const state = await this.ok('POST', '/register', form);
    return new Queue(this, state);
  }

  send(method: string, path: string, form: Form = {}, headers: Record<string, string> = {}): Promise<Answer> {
    const given = Object.entries(form).filter(([, value]) => value !== undefined);
    const fields = new URLSearchParams(
      given.map(([key, value]) => [key, typeof value === 'string' ? value : JSON.stringify(value)]),
    ).toString();
    const isQuery = method === 'GET' || method === 'HEAD';
    const base = path.startsWith('/api/') || path.startsWith('//') ? path.replace(/^\/\//, '/') : `/api/v1${path}`;
    const authorization =
      this.email === ''
        ? {}
        : { authorization: `Basic ${Buffer.from(`${this.email}:${this.api_key}`).toString('base64')}` };
    const body = isQuery ? '' : fields;
    return exchange(`${this.url}${base}${isQuery && fields ? `?${fields}` : ''}`, method, body, {
      host: this.host,
      ...authorization,
      ...(isQuery ? {} : { 'content-type': 'application/x-www-form-urlencoded' }),
      ...headers,
    });
  }
}

/** One raw exchange; a body that is not JSON is returned as text. */
export function exchange(
  url: string,
  method: string,
  body: string | Uint8Array,
  headers: Record<string, string>,
): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const started = performance.now();
    const isChunked = headers['transfer-encoding'] !== undefined;
    const sized = isChunked ? headers : { 'content-length': String(Buffer.byteLength(body)), ...headers };
    const outgoing = request(url, { method, headers: sized, agent, timeout: 120_000 }, (incoming) => {
      const chunks: Buffer[] = [];
      incoming.on('data', (chunk: Buffer) => chunks.push(chunk));
      incoming.on('error', reject);
      incoming.on('end', () => {
        const text = Buffer.concat(chunks).toString('utf8');
        let parsed: Json = text;
        try {
          parsed = JSON.parse(text);
        } catch {}
        resolve({ status: incoming.statusCode ?? 0, body: parsed, headers: incoming.headers });
      });
    });
    outgoing.on('timeout', () => outgoing.destroy(new Error(`${method} ${url}: no answer`)));
    outgoing.on('error', (cause) => {
      const connection = outgoing.reusedSocket ? 'a reused connection' : 'a new connection';
      const passed = Math.round(performance.now() - started);
      reject(new Error(`${method} ${url} on ${connection}, after ${passed} ms: ${cause.message}`, { cause }));
    });
    outgoing.end(body);
  });
}
