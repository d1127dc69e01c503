/** Sends random requests to a running system and checks every answer. */
import { setTimeout as sleep } from 'node:timers/promises';
import { type Operation, operations } from '@natter/contracts';
import { createRandom, type Random } from '../random.ts';
import { type Findings, kindOf } from './findings.ts';
import { whyForbidden } from './permitted.ts';
import { createPlan } from './plan.ts';
import { buildCall } from './requests/build.ts';
import type { Call, Credentials } from './requests/call.ts';
import { Connection } from './requests/connection.ts';
import { harvest } from './requests/dictionary.ts';
import { shrink } from './requests/shrink.ts';
import { createSequences } from './sequences/index.ts';
import { createAsker } from './target/asker.ts';
import { type Coverage, createCoverage } from './target/coverage.ts';
import type { Neighbour } from './target/neighbour.ts';
import type { WatchedSystem } from './target/watched-system.ts';
import {
  type Operator,
  openRealm,
  openWorld,
  type Person,
  type RoleName,
  roleIdOf,
  type World,
  withKey,
} from './target/world.ts';

export interface FuzzOptions {
  watched: WatchedSystem;
  operator: Operator;
  neighbour: Neighbour;
  findings: Findings;
  seed: number;
  requests: number;
  untilMs: number;
  /** Ends the run early. */
  signal: AbortSignal;
  operation: string | undefined;
  lanes: number;
  onProgress: (sent: number) => Promise<void>;
}

/** Requests to one realm before it is replaced. */
const requestsPerWorld = 12_000;
/** How often a lane runs a sequence instead of sending a request; each has about ten requests. */
const sequenceShare = 0.005;
/** Another gateway may accept an ended key until it has read the event that ended it. */
const endedWithinMs = 5_000;
const routed = operations.filter(({ http, page }) => http ?? page);

export interface Fuzzed {
  sent: number;
  coverage: Coverage;
  chosen: readonly Operation[];
  summary: string;
}

export async function fuzz(options: FuzzOptions): Promise<Fuzzed> {
  const { watched, operator, neighbour, findings, seed } = options;
  const chosen = routed.filter(({ name }) => options.operation === undefined || name === options.operation);
  if (chosen.length === 0) throw new Error(`no operation ${options.operation}`);
  const coverage = createCoverage();
  const asker = createAsker({ watched, neighbour, coverage });
  const plan = createPlan(chosen, createRandom(seed));
  const sequences = createSequences(
    async () => {
      const realm = await openRealm(operator, `c-${Math.random().toString(36).slice(2, 10)}`);
      return {
        realm,
        owner: await realm.person('owner', 'Olga Owner'),
        asker,
        port: watched.port,
        mails: watched.mails,
        onProblem: (problem, call) => void findings.add(problem, call),
      };
    },
    (problem) => void findings.add(problem),
  );
  let world = await openWorld(operator, neighbour.foreign);
  let leftInWorld = requestsPerWorld;
  let changing: Promise<void> | undefined;
  let sent = 0;
  const renewing = new Map<RoleName, Promise<void>>();

  await Promise.all(Array.from({ length: options.lanes }, (_, index) => lane(createRandom(seed * 10_007 + index))));
  await Promise.allSettled([changing, ...renewing.values()]);
  for (const problem of asker.problems()) findings.add(problem);
  return { sent: asker.count(), coverage, chosen, summary: `${sequences.summary()}\n${asker.summary()}` };

  async function lane(random: Random): Promise<void> {
    const connection = new Connection(watched.port);
    while (asker.count() < options.requests && Date.now() < options.untilMs && !options.signal.aborted) {
      if (options.operation === undefined && random.chance(sequenceShare)) await sequences.run(random);
      // A long run continues.
      await one(random, connection).catch((error: unknown) => {
        findings.add(`the fuzzer failed: ${error instanceof Error ? error.stack : error}`);
      });
    }
    connection.close();
  }

  async function one(random: Random, connection: Connection): Promise<void> {
    const number = ++sent;
    if (--leftInWorld === 0) changeWorld();
    const here = world;
    const { operation, role } = plan.next(random);
    const call = buildCall(operation, role, { random, dictionary: here.dictionary });
    const person = here.people.get(role);
    const credentials = credentialsFor(here, role, random);
    const { problem, answer } = await asker.ask(operation, call, { credentials, connection });
    let wrong = problem ?? (answer && (await wrongSuccess(operation, call, answer.code, { here, role, person })));
    if (wrong !== undefined && problem === undefined && role === 'wrong-key') {
      await sleep(endedWithinMs);
      const again = await asker.ask(operation, call, { credentials, connection });
      if (again.answer?.code !== '200') wrong = undefined;
    }
    if (wrong !== undefined && findings.add(wrong, call)) await simplify(operation, call, wrong, credentials);
    if (answer) react(operation, call, { answer, role, here, credentials });
    if (number % 1_000 === 0) {
      for (const said of watched.problems()) findings.add(said);
      for (const { kind, key } of watched.mailedKeys()) world.dictionary.add(kind, key);
    }
    if (number % 5_000 === 0) await options.onProgress(asker.count());
  }

  function credentialsFor(here: World, role: RoleName, random: Random): Credentials {
    // An anonymous request is sent to the other realm, where no user of the attacked realm exists.
    if (role === 'anonymous') return { host: neighbour.host, authorization: undefined };
    const ended = role === 'wrong-key' && random.chance(0.5) ? random.pick(here.ended) : undefined;
    return { ...here.credentialsOf(role), ...(ended === undefined ? {} : { authorization: ended }) };
  }

  /**
   * A success that the caller must not have; the account's role is looked up, because other requests may have changed
   * it.
   */
  async function wrongSuccess(
    operation: Operation,
    call: Call,
    code: string,
    { here, role, person }: { here: World; role: RoleName; person: Person | undefined },
  ): Promise<string | undefined> {
    if (code !== '200' || call.mutation !== undefined) return undefined;
    const why = whyForbidden(operation, role);
    if (why === undefined) return undefined;
    if (withKey(role) && person) {
      if (here.people.get(role) !== person || (await watched.roleOf(person.user_id)) !== roleIdOf(role))
        return undefined;
    }
    return `success for ${why}`;
  }

  /** Learns from an answer, and replaces callers that lost their role or key. */
  function react(
    operation: Operation,
    call: Call,
    {
      answer: { code, json, location },
      role,
      here,
      credentials,
    }: {
      answer: { code: string; json: unknown; location: string | undefined };
      role: RoleName;
      here: World;
      credentials: Credentials;
    },
  ): void {
    const uploadId = /\/tus\/([^/?]+)$/.exec(location ?? '')?.[1];
    if (uploadId !== undefined) here.dictionary.add('upload_id', uploadId);
    if (code === '200') {
      harvest(here.dictionary, operation.name, json);
      if (operation.name === 'get-events')
        for (const { type, op } of (json as { events?: { type: string; op?: string }[] } | undefined)?.events ?? [])
          coverage.event(op === undefined ? type : `${type}/${op}`);
      if (operation.name === 'deactivate-realm') changeWorld();
      if (call.fields.some(([name]) => name === 'role'))
        for (const [name, person] of here.people)
          if (call.path.endsWith(`/${person.user_id}`) || call.path.includes(encodeURIComponent(person.email || '-')))
            renew(here, name);
    }
    const isEnded =
      ['INVALID_API_KEY', 'USER_DEACTIVATED'].includes(code) || (role === 'browser' && code === 'UNAUTHORIZED');
    // A login is refused because of the account that it names.
    if (withKey(role) && call.mutation === undefined && isEnded && operation.caller !== 'public') {
      if (credentials.authorization !== undefined) here.ended.push(credentials.authorization);
      renew(here, role);
    }
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

  async function simplify(operation: Operation, call: Call, problem: string, credentials: Credentials): Promise<void> {
    const connection = new Connection(watched.port);
    const kind = kindOf(problem, call);
    const shows = async (candidate: Call): Promise<boolean> => {
      const again = await asker.ask(operation, candidate, { credentials, connection });
      return again.problem !== undefined && kindOf(again.problem, candidate) === kind;
    };
    const smaller = await shrink(call, shows);
    connection.close();
    if (smaller) findings.simplify(problem, smaller);
  }
}
