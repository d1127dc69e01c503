/** Sends random requests to a running system and checks every answer. */
import { type Operation, operations } from '@natter/contracts';
import { buildCall } from './build.ts';
import { bytesOf, type Call } from './call.ts';
import { check } from './check.ts';
import { type Answer, Connection, NoAnswer } from './connection.ts';
import { type Coverage, createCoverage } from './coverage.ts';
import { harvest } from './dictionary.ts';
import { type Findings, kindOf } from './findings.ts';
import type { Neighbour } from './neighbour.ts';
import { createPlan } from './plan.ts';
import { createRandom, type Random } from './random.ts';
import { shrink } from './shrink.ts';
import type { WatchedSystem } from './watched-system.ts';
import { type Operator, openWorld, type RoleName, type World, withKey } from './world.ts';

export interface FuzzOptions {
  watched: WatchedSystem;
  operator: Operator;
  neighbour: Neighbour;
  findings: Findings;
  seed: number;
  requests: number;
  untilMs: number;
  operation: string | undefined;
  lanes: number;
  onProgress: (sent: number) => Promise<void>;
}

/** Requests to one realm before the next one takes its place. */
const requestsPerWorld = 12_000;
const answerTimeoutMs = 30_000;
const routed = operations.filter(({ http, page }) => http ?? page);

export async function fuzz(
  options: FuzzOptions,
): Promise<{ sent: number; coverage: Coverage; chosen: readonly Operation[] }> {
  const { watched, operator, neighbour, findings, seed } = options;
  const chosen = routed.filter(({ name }) => options.operation === undefined || name === options.operation);
  if (chosen.length === 0) throw new Error(`no operation ${options.operation}`);
  const coverage = createCoverage();
  const plan = createPlan(chosen, createRandom(seed));
  let world = await openWorld(operator, neighbour.foreign);
  let leftInWorld = requestsPerWorld;
  let changing: Promise<void> | undefined;
  let sent = 0;
  const renewing = new Map<RoleName, Promise<void>>();

  await Promise.all(Array.from({ length: options.lanes }, (_, index) => lane(createRandom(seed * 10_007 + index))));
  await Promise.allSettled([changing, ...renewing.values()]);
  return { sent, coverage, chosen };

  async function lane(random: Random): Promise<void> {
    const connection = new Connection(watched.port);
    while (sent < options.requests && Date.now() < options.untilMs) {
      const number = ++sent;
      if (--leftInWorld === 0) changeWorld();
      const here = world;
      const { operation, role } = plan.next(random);
      const call = buildCall(operation, role, { random, dictionary: here.dictionary });
      const { problem, answer } = await ask(operation, call, { connection, here });
      if (problem !== undefined && findings.add(problem, call)) await simplify(operation, call, problem, here);
      if (answer) react(operation, call, { answer, role, here });
      if (number % 1_000 === 0) {
        for (const said of watched.problems()) findings.add(said);
        for (const key of watched.mailedKeys()) world.dictionary.add('key', key);
      }
      if (number % 5_000 === 0) await options.onProgress(number);
    }
    connection.close();
  }

  async function ask(
    operation: Operation,
    call: Call,
    { connection, here }: { connection: Connection; here: World },
  ): Promise<{ problem?: string; answer?: { code: string; json: unknown } }> {
    const credentials = here.credentialsOf(call.role as RoleName);
    // Nobody of the attacked realm stands before the door of the other one.
    const host = call.role === 'anonymous' ? neighbour.host : credentials.host;
    const bytes = bytesOf(call, { ...credentials, host });
    if (call.cut) {
      const share = 'share' in call.cut ? call.cut.share : 1;
      await connection.sendAndLeave(
        bytes.subarray(0, Math.ceil(bytes.length * share)),
        'afterMs' in call.cut ? call.cut.afterMs : 0,
      );
      coverage.count(operation.name, call.role, 'cut off');
      return {};
    }
    let answer: Answer;
    try {
      answer = await connection.exchange(bytes, { isHead: call.method === 'HEAD', timeoutMs: answerTimeoutMs });
    } catch (error) {
      if (!(error instanceof NoAnswer)) throw error;
      coverage.count(operation.name, call.role, 'no answer');
      return { problem: error.message };
    }
    const { problem, code, json } = check(operation, call, answer);
    coverage.count(operation.name, call.role, code);
    const leak = neighbour.leakIn(answer.body, textOf(call));
    if (leak) return { problem: `the answer holds ${leak} of another realm: ${answer.body.toString('utf8', 0, 300)}` };
    return { ...(problem === undefined ? {} : { problem }), answer: { code, json } };
  }

  /** Learns from an answer, and replaces callers who lost what they stand for. */
  function react(
    operation: Operation,
    call: Call,
    { answer: { code, json }, role, here }: { answer: { code: string; json: unknown }; role: RoleName; here: World },
  ): void {
    if (code === '200') {
      harvest(here.dictionary, operation.name, json);
      if (operation.name === 'get-events')
        for (const { type, op } of (json as { events?: { type: string; op?: string }[] }).events ?? [])
          coverage.event(op === undefined ? type : `${type}/${op}`);
      if (operation.name === 'deactivate-realm') changeWorld();
      if (call.fields.some(([name]) => name === 'role'))
        for (const [name, person] of here.people)
          if (call.path.endsWith(`/${person.user_id}`) || call.path.includes(encodeURIComponent(person.email || '-')))
            renew(here, name);
    }
    if (withKey(role) && call.mutation === undefined && ['INVALID_API_KEY', 'USER_DEACTIVATED'].includes(code))
      renew(here, role);
  }

  function renew(here: World, role: RoleName): void {
    if (here !== world || renewing.has(role) || changing) return;
    const done = here.renew(role).catch(() => undefined);
    renewing.set(role, done);
    void done.finally(() => renewing.delete(role));
  }

  function changeWorld(): void {
    changing ??= openWorld(operator, neighbour.foreign)
      .then((next) => {
        world = next;
        leftInWorld = requestsPerWorld;
      })
      .catch((error: unknown) => void findings.add(`a realm could not be made: ${error}`))
      .finally(() => {
        changing = undefined;
      });
  }

  async function simplify(operation: Operation, call: Call, problem: string, here: World): Promise<void> {
    const connection = new Connection(watched.port);
    const kind = kindOf(problem, call);
    const shows = async (candidate: Call): Promise<boolean> => {
      const again = await ask(operation, candidate, { connection, here });
      return again.problem !== undefined && kindOf(again.problem, candidate) === kind;
    };
    const smaller = await shrink(call, shows);
    connection.close();
    if (smaller) findings.simplify(problem, smaller);
  }
}

const textOf = (call: Call): string =>
  `${call.path} ${JSON.stringify(call.headers)} ${call.fields.map(([, value]) => (typeof value === 'string' ? value : value.encoded)).join(' ')}`;
