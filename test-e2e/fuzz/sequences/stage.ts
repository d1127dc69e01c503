/** A realm in which only sequences act, so that the answer to each step is known. */
import { type Operation, operations } from '@natter/contracts';
import { authorizationOf } from '../../api.ts';
import type { Random } from '../../random.ts';
import { type Call, encoded } from '../requests/call.ts';
import { Connection } from '../requests/connection.ts';
import type { HostileFile } from '../requests/hostile-files.ts';
import type { Asker } from '../target/asker.ts';
import type { Json, Person, RealmAccess } from '../target/world.ts';

export interface Caller extends Person {
  role: string;
}

interface Reply {
  code: string;
  json: Json;
}

/** The tools of a sequence. It throws `Unexpected` if an answer is not the expected one. */
export interface Stage {
  random: Random;
  host: string;
  /** Stays, and keeps the role. */
  owner: Caller;
  /** A new user, unknown to other sequences. */
  person(role: 'owner' | 'administrator' | 'moderator' | 'member' | 'guest', password?: string): Promise<Caller>;
  /** Sends a request, and accepts any answer that the contract permits. */
  ask(caller: Caller | undefined, operation: string, values?: Record<string, unknown>): Promise<Reply>;
  /** Sends a request that must succeed. */
  must(caller: Caller | undefined, operation: string, values?: Record<string, unknown>): Promise<Json>;
  /** Sends a request that must be refused with one of these codes. */
  refused(
    caller: Caller | undefined,
    operation: string,
    values: Record<string, unknown>,
    codes: readonly string[],
  ): Promise<void>;
  /** The key at the end of the link in a mail to an address. */
  mailedKey(address: string, after: number): Promise<string>;
  /** Number of mails so far. */
  mailCount(): number;
}

export class Unexpected extends Error {
  readonly call: Call | undefined;

  constructor(message: string, call?: Call) {
    super(message);
    this.call = call;
  }
}

/** The effect of a step is unknown, so the next answer cannot be predicted. */
export class Abandoned extends Error {}

export function expect(isSo: boolean, message: string): asserts isSo {
  if (!isSo) throw new Unexpected(message);
}

const byName = new Map(operations.map((operation) => [operation.name, operation]));

export interface StageOptions {
  realm: RealmAccess;
  owner: Person;
  asker: Asker;
  port: number;
  random: Random;
  mails: { received: readonly { to: string[]; link: string }[] };
  onProblem: (problem: string, call: Call) => void;
}

export function createStage(options: StageOptions): Stage & { close(): void } {
  const { realm, asker, random, mails, onProblem } = options;
  /** Requests of one sequence may run concurrently. */
  const idle: Connection[] = [];

  async function send(
    caller: Caller | undefined,
    name: string,
    values: Record<string, unknown>,
  ): Promise<{ reply: Reply; call: Call }> {
    const operation = byName.get(name);
    if (!operation) throw new Error(`no operation ${name}`);
    const call = callFor(operation, caller?.role ?? 'anonymous', values);
    call.headers['idempotency-key'] = `s${random.below(2 ** 31)}-${random.below(2 ** 31)}`;
    const connection = idle.pop() ?? new Connection(options.port);
    const { problem, answer, isRepeat } = await asker.ask(operation, call, {
      credentials: credentials(caller),
      connection,
      isSequence: true,
    });
    idle.push(connection);
    if (problem !== undefined) onProblem(problem, call);
    if (isRepeat) throw new Abandoned(`${name} was answered on a repeat`);
    if (!answer) throw new Unexpected(`${name} was not answered`, call);
    return { reply: { code: answer.code, json: answer.json as Json }, call };
  }

  const credentials = (caller: Caller | undefined): { host: string; authorization: string | undefined } => ({
    host: realm.host,
    authorization: caller && authorizationOf(caller),
  });

  return {
    random,
    host: realm.host,
    owner: { ...options.owner, role: 'owner' },
    async person(role, password) {
      const made = await realm.person(role, `${role} ${random.below(1e9)}`, password);
      return { ...made, role };
    },
    ask: async (caller, name, values = {}) => (await send(caller, name, values)).reply,
    async must(caller, name, values = {}) {
      const { reply, call } = await send(caller, name, values);
      if (!/^[23]\d\d$/.test(reply.code))
        throw new Unexpected(`${name} answered ${reply.code} ${String(reply.json?.msg ?? '')}, not success`, call);
      return reply.json;
    },
    async refused(caller, name, values, codes) {
      const { reply, call } = await send(caller, name, values);
      if (!codes.includes(reply.code))
        throw new Unexpected(
          `${name} answered ${reply.code} ${String(reply.json?.msg ?? '')}, not ${codes.join(' or ')}`,
          call,
        );
    },
    async mailedKey(address, after) {
      for (const end = Date.now() + 60_000; Date.now() < end; await new Promise((resolve) => setTimeout(resolve, 20)))
        for (const { to, link } of mails.received.slice(after))
          if (link !== '' && to.includes(address)) return link.split(/[/?#]/).filter(Boolean).at(-1) ?? '';
      throw new Unexpected(`no link was mailed to ${address}`);
    },
    mailCount: () => mails.received.length,
    close() {
      for (const connection of idle) connection.close();
    },
  };
}

/** Values are put into the path if it names them, otherwise into the form, encoded as the contract declares. */
function callFor(operation: Operation, role: string, values: Record<string, unknown>): Call {
  const route = operation.http ?? operation.page;
  if (!route) throw new Error(`${operation.name} has no route`);
  const inPath = new Set([...route.path.matchAll(/\{(\w+)\}/g)].map((match) => match[1] ?? ''));
  const { file, ...others } = values;
  const fields = Object.entries(others)
    .filter(([name, value]) => !inPath.has(name) && value !== undefined)
    .map(([name, value]): [string, string] => {
      const encoding = operation.params[name]?.encoding;
      const isRaw = encoding === 'text' || (encoding === 'textOrJson' && typeof value === 'string');
      return [name, isRaw ? String(value) : JSON.stringify(value)];
    });
  return {
    operation: operation.name,
    role,
    method: route.method,
    path: `${operation.http ? '/api/v1' : ''}${route.path.replace(/\{(\w+)\}/g, (_, name: string) => encoded(String(values[name])))}`,
    fields,
    file: file as HostileFile | undefined,
    form: route.method === 'GET' ? 'query' : file ? 'multipart' : 'urlencoded',
    headers: {},
    body: undefined,
    cut: undefined,
    mutation: undefined,
  };
}
