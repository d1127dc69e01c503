import type { Msg, NatsConnection } from '@nats-io/nats-core';
import { createHeaders, headerOf, setHeader } from './bus-headers.ts';
import type { Logger } from './logging.ts';
import { subscribe } from './subscribe.ts';
import { askHeader, cancelSubjectOf, instanceHeader } from './wire.ts';

/**
 * Finds calls that no process works on any more: their process was killed or hangs, or NATS lost the request or the
 * answer. If a call is not answered soon, the processes of the service are asked which calls they work on; NATS reports
 * which processes are gone. A call that no process works on is lost at once. If a process does not answer the question,
 * the call is lost after a while.
 *
 * While a service is called, its processes are also asked without a reason every two seconds, because only a process
 * that answered once is missed when it hangs: processes start and are replaced later than their callers.
 */
export interface LostCalls {
  /** Rejects with `CallLost` when no process works on the call; `done` ends the watch. */
  watch(service: string, id: string, attempt: number): { lost: Promise<never>; done: () => void };
  /**
   * A process to send a call to while another process of the service does not answer: NATS would give that one its
   * share. Undefined while all answer.
   */
  responsive(service: string): string | undefined;
  /**
   * The first process that answers a question asked from now on, for calls that may not be sent twice. Undefined if no process
   * answers soon.
   */
  confirmed(service: string): Promise<string | undefined>;
  /** Asks about pending calls at once; called after a reconnect. */
  reconnected(): void;
}

class CallLost extends Error {
  constructor() {
    super('no process works on this call any more');
    this.name = 'CallLost';
  }
}

interface Watched {
  service: string;
  /** When to ask next, in terms of `performance.now()`. */
  askAt: number;
  /** How long to wait for an answer. A process may be alive and busy, so each attempt waits longer. */
  patienceMs: number;
  /** Since when no process has confirmed that it works on the call; undefined while none was asked. */
  silentSince: number | undefined;
  lose: () => void;
}

interface Question {
  number: number;
  service: string;
  /** Calls that no process has confirmed. */
  ids: Set<string>;
  askedAt: number;
  /** Subjects of processes that have not answered; unknown before the service's first answer. */
  silent: Set<string> | undefined;
  /** Subjects of the probed processes, in the order of the probes. */
  probed: readonly string[];
}

interface Expecting {
  service: string;
  /** Number of the question that the answer must follow: an earlier answer could be of a process that hangs by now. */
  since: number;
  resolve: (instance: string | undefined) => void;
}

const lookEveryMs = 100;
/** After a longer pause this process itself was busy or stopped: it reads answers before it judges others. */
const stalledMs = 400;
const askAfterMs = 300;
const askAgainMs = 500;
/** A process that is not known yet may answer later than the known ones. */
const graceMs = 100;
const patienceMs = 600;
const maxPatienceMs = 4_000;
/** How often the processes of a called service are asked without a reason. */
const rollCallMs = 2_000;
/** Maximum number of ids in one question. */
const maxAsked = 500;

export function watchLostCalls(nats: NatsConnection, name: string, log: Pick<Logger, 'error'>): LostCalls {
  const calls = new Map<string, Watched>();
  /** Subjects of the processes of each service that was called, with the time of their last answer. */
  const instances = new Map<string, Map<string, number>>();
  /** Services called since they were asked last. */
  const called = new Set<string>();
  /** Resolve at the first answer to such a question, or when NATS reports that no process serves the service. */
  const expecting = new Set<Expecting>();
  /** Processes that have not answered for a while. */
  const suspects = new Set<string>();
  const questions = new Map<number, Question>();
  const lastAskedAt = new Map<string, number>();
  const inbox = `_INBOX.${name}.lost-${crypto.randomUUID()}`;
  let asked = 0;
  let lookedAt = performance.now();
  let hasSkipped = false;
  subscribe(nats, `${inbox}.>`, log, (message) => {
    const [number, probe] = message.subject.slice(inbox.length + 1).split('.');
    suspects.delete(headerOf(message, instanceHeader));
    const question = questions.get(Number(number));
    if (!question) return;
    if (message.headers?.code === 503) nobodyAt(question, probe === undefined ? undefined : Number(probe));
    else if (probe === undefined) answered(question, message);
  });

  setInterval(look, lookEveryMs).unref();

  function answered(question: Question, message: Msg): void {
    const instance = headerOf(message, instanceHeader);
    if (instance) {
      instancesOf(question.service).set(instance, performance.now());
      question.silent?.delete(instance);
      confirm(question, instance);
    }
    const now = performance.now();
    for (const id of message.string().split(' ')) {
      question.ids.delete(id);
      const call = calls.get(id);
      if (!call) continue;
      call.silentSince = undefined;
      call.askAt = now + askAgainMs;
    }
  }

  /** NATS reports no responder at the subject of the probe; without a probe, none that serves the service. */
  function nobodyAt(question: Question, probe: number | undefined): void {
    const known = instancesOf(question.service);
    const gone = probe === undefined ? [...known.keys()] : question.probed.slice(probe, probe + 1);
    if (probe === undefined) {
      question.silent ??= new Set();
      confirm(question);
    }
    for (const instance of gone) {
      known.delete(instance);
      suspects.delete(instance);
      for (const { silent } of questions.values()) silent?.delete(instance);
    }
  }

  function instancesOf(service: string): Map<string, number> {
    const known = instances.get(service) ?? new Map();
    instances.set(service, known);
    return known;
  }

  function confirm({ service, number }: Question, instance?: string): void {
    for (const one of expecting) if (one.service === service && number >= one.since) one.resolve(instance);
  }

  function look(): void {
    const now = performance.now();
    hasSkipped = !hasSkipped && now - lookedAt > stalledMs;
    lookedAt = now;
    if (hasSkipped) return;
    for (const [number, { service, silent, ids, askedAt }] of questions) {
      const isOver = silent?.size === 0 && now - askedAt >= graceMs;
      if (isOver) for (const id of ids) calls.get(id)?.lose();
      const known = instancesOf(service);
      if (now - askedAt >= patienceMs)
        for (const instance of silent ?? []) if ((known.get(instance) ?? 0) < askedAt) suspects.add(instance);
      if (isOver || now - askedAt > maxPatienceMs) questions.delete(number);
    }
    const due = new Map<string, string[]>();
    for (const [id, call] of calls) {
      if (call.silentSince !== undefined && now - call.silentSince > call.patienceMs) call.lose();
      else if (now >= call.askAt) {
        call.silentSince ??= now;
        call.askAt = now + askAgainMs;
        due.set(call.service, [...(due.get(call.service) ?? []), id]);
      }
    }
    for (const service of instances.keys())
      if (now - (lastAskedAt.get(service) ?? 0) >= pauseOf(service) && !due.has(service)) ask(service, [], now);
    for (const [service, ids] of due)
      for (let from = 0; from < ids.length; from += maxAsked) ask(service, ids.slice(from, from + maxAsked), now);
  }

  const hasSuspects = (service: string): boolean =>
    suspects.size > 0 && [...instancesOf(service).keys()].some((instance) => suspects.has(instance));

  /** Milliseconds from the last question to one without a reason. */
  function pauseOf(service: string): number {
    if (hasSuspects(service)) return askAgainMs;
    return called.has(service) ? rollCallMs : Number.POSITIVE_INFINITY;
  }

  function ask(service: string, ids: readonly string[], askedAt = performance.now()): number {
    called.delete(service);
    const probed = [...instancesOf(service).keys()];
    const silent = probed.length > 0 ? new Set(probed) : undefined;
    // NATS permits one answer of a service to each reply subject.
    const number = ++asked;
    lastAskedAt.set(service, askedAt);
    questions.set(number, { number, service, ids: new Set(ids), askedAt, silent, probed });
    const h = createHeaders();
    setHeader(h, askHeader, '1');
    try {
      nats.publish(cancelSubjectOf(service, name), ids.join(' '), { reply: `${inbox}.${number}`, headers: h });
      for (const [index, instance] of probed.entries())
        nats.publish(instance, '', { reply: `${inbox}.${number}.${index}` });
    } catch {
      // No answer: the calls count as lost and are repeated when NATS is back.
    }
    return number;
  }

  return {
    watch(service, id, attempt) {
      let lose: () => void = () => undefined;
      const lost = new Promise<never>((_, reject) => {
        lose = () => {
          calls.delete(id);
          reject(new CallLost());
        };
      });
      lost.catch(() => undefined);
      const patience = Math.min(patienceMs * 2 ** attempt, maxPatienceMs);
      const askAt = performance.now() + askAfterMs;
      calls.set(id, { service, askAt, patienceMs: patience, silentSince: undefined, lose });
      // The processes must be known before one of them is gone.
      if (!instances.has(service)) ask(service, []);
      called.add(service);
      return { lost, done: () => void calls.delete(id) };
    },
    responsive(service) {
      if (!hasSuspects(service)) return undefined;
      return anyOf([...instancesOf(service).keys()].filter((instance) => !suspects.has(instance)));
    },
    confirmed(service) {
      return new Promise((resolve) => {
        const since = ask(service, []);
        const give = (instance: string | undefined): void => {
          clearTimeout(timer);
          expecting.delete(one);
          resolve(instance);
        };
        const one = { service, since, resolve: give };
        expecting.add(one);
        const timer = setTimeout(() => give(undefined), maxPatienceMs);
      });
    },
    reconnected() {
      for (const call of calls.values()) {
        call.silentSince = undefined;
        call.askAt = performance.now() + lookEveryMs;
      }
    },
  };
}

const anyOf = <T>(list: readonly T[]): T | undefined => list[Math.floor(Math.random() * list.length)];
