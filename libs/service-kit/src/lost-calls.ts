import { headers, type NatsConnection } from '@nats-io/nats-core';
import { askHeader, cancelSubjectOf } from './wire.ts';

/**
 * Finds calls that nobody is working on any more: their process was killed or hangs, or NATS lost the request or the answer. A call
 * that is not answered soon is asked for; the process that works on it says so, and silence means that it is lost.
 */
export interface LostCalls {
  /** Rejects with `CallLost` when nobody works on the call; `done` ends the watch. */
  watch(service: string, id: string, attempt: number): { lost: Promise<never>; done: () => void };
  /** After a reconnect: what was under way is asked for at once. */
  reconnected(): void;
}

export class CallLost extends Error {
  constructor() {
    super('no process works on this call any more');
    this.name = 'CallLost';
  }
}

interface Watched {
  service: string;
  /** When to ask next, as `performance.now()` tells it. */
  askAt: number;
  /** How long an answer may take. A process may be alive and busy, so each attempt waits longer. */
  patienceMs: number;
  /** Since when nobody has said that the call is worked on; undefined while nobody was asked. */
  silentSince: number | undefined;
  lose: () => void;
}

const lookEveryMs = 200;
const askAfterMs = 500;
const patienceMs = 600;
const maxPatienceMs = 4_000;
/** Ids in one question. */
const maxAsked = 500;

export function watchLostCalls(nats: NatsConnection, name: string): LostCalls {
  const calls = new Map<string, Watched>();
  const inbox = `_INBOX.${name}.lost-${crypto.randomUUID()}`;
  let questions = 0;
  nats.subscribe(`${inbox}.*`, {
    callback: (error, message) => {
      if (error) return;
      const now = performance.now();
      for (const id of message.string().split(' ')) {
        const call = calls.get(id);
        if (!call) continue;
        call.silentSince = undefined;
        call.askAt = now + askAfterMs;
      }
    },
  });

  setInterval(look, lookEveryMs).unref();

  function look(): void {
    const now = performance.now();
    const asked = new Map<string, string[]>();
    for (const [id, call] of calls) {
      if (call.silentSince !== undefined && now - call.silentSince > call.patienceMs) call.lose();
      else if (now >= call.askAt) {
        call.silentSince ??= now;
        call.askAt = now + askAfterMs;
        asked.set(call.service, [...(asked.get(call.service) ?? []), id]);
      }
    }
    for (const [service, ids] of asked)
      for (let from = 0; from < ids.length; from += maxAsked) ask(service, ids.slice(from, from + maxAsked));
  }

  function ask(service: string, ids: readonly string[]): void {
    const h = headers();
    h.set(askHeader, '1');
    // NATS lets a service answer once to each reply subject.
    const reply = `${inbox}.${++questions}`;
    try {
      nats.publish(cancelSubjectOf(service, name), ids.join(' '), { reply, headers: h });
    } catch {
      // Silence: the calls count as lost and are sent again once NATS is back.
    }
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
      return { lost, done: () => void calls.delete(id) };
    },
    reconnected() {
      for (const call of calls.values()) {
        call.silentSince = undefined;
        call.askAt = performance.now() + lookEveryMs;
      }
    },
  };
}
