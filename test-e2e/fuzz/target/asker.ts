/** Sends one request and checks the answer: against the contract, the role, the other realm's secrets, and its cost. */
import type { Operation } from '@natter/contracts';
import { bytesOf, type Call, type Credentials } from '../requests/call.ts';
import { check } from '../requests/check.ts';
import { type Answer, type Connection, NoAnswer } from '../requests/connection.ts';
import { costOf, createSuspects } from './cost.ts';
import type { Coverage } from './coverage.ts';
import { createGate } from './gate.ts';
import type { Neighbour } from './neighbour.ts';
import type { WatchedSystem } from './watched-system.ts';

interface Asked {
  problem?: string;
  /** The status of a success, or the code of an error. Absent if the request was cut off or had no answer. */
  answer?: { code: string; json: unknown; location: string | undefined };
  /** Whether the request was sent twice because the first had no answer, so the effect of the first is unknown. */
  isRepeat?: boolean;
}

interface Sender {
  credentials: Credentials;
  connection: Connection;
  isSequence?: boolean;
}

export interface Asker {
  /** Slow requests are repeated to measure their cost, unless they are part of a sequence. */
  ask(operation: Operation, call: Call, sender: Sender): Promise<Asked>;
  /** Requests so far. */
  count(): number;
  /** Problems of the run as a whole. */
  problems(): string[];
  summary(): string;
}

const answerTimeoutMs = 30_000;
/** A machine that is busy with other work delays single requests; a larger share is a fault of the system. */
const lateShare = 0.01;

export function createAsker({
  watched,
  neighbour,
  coverage,
}: {
  watched: WatchedSystem;
  neighbour: Neighbour;
  coverage: Coverage;
}): Asker {
  const gate = createGate();
  const suspects = createSuspects();
  let asked = 0;
  let late = 0;
  let costliest = { ms: 0, what: 'none' };

  return {
    async ask(operation, call, { credentials, connection, isSequence = false }) {
      asked++;
      const bytes = bytesOf(call, credentials);
      if (call.cut) {
        await gate.together(() => cutOff(call, bytes, connection));
        coverage.count(operation.name, call.role, 'cut off');
        return {};
      }
      const exchange = (): Promise<Answer | string> => answerTo(call, bytes, connection);
      let began = 0;
      let answer = await gate.together(() => {
        began = performance.now();
        return exchange();
      });
      // On a machine that is busy with other work a request may be late once. Sent alone, it must be answered.
      const isRepeat = typeof answer === 'string' || answer.status === 503;
      if (isRepeat) late++;
      if (isRepeat || (!isSequence && suspects.is(performance.now() - began))) {
        const again = await gate.alone(() => measured(operation, exchange));
        if (again.problem) return { problem: again.problem };
        if (isRepeat) answer = again.answer;
      }
      if (typeof answer === 'string') {
        coverage.count(operation.name, call.role, 'no answer');
        return { problem: `${answer}, also when asked alone` };
      }
      return { ...judge(operation, call, answer), isRepeat };
    },
    count: () => asked,
    problems: () =>
      asked > 1_000 && late > asked * lateShare ? [`${late} of ${asked} requests were answered only on a repeat`] : [],
    summary: () =>
      `${late} requests were refused as unavailable or unanswered, and answered when asked again alone; ` +
      `${suspects.count()} slow ones were repeated alone, the costliest took ${costliest.ms} ms of CPU (${costliest.what})`,
  };

  function judge(operation: Operation, call: Call, answer: Answer): Asked {
    const { problem, code, json } = check(operation, call, answer);
    coverage.count(operation.name, call.role, code, call.mutation !== undefined);
    const leak = neighbour.leakIn(answer.body, textOf(call));
    if (leak) return { problem: `the answer holds ${leak} of another realm: ${answer.body.toString('utf8', 0, 300)}` };
    return { ...(problem === undefined ? {} : { problem }), answer: { code, json, location: answer.headers.location } };
  }

  async function measured(
    operation: Operation,
    exchange: () => Promise<Answer | string>,
  ): Promise<{ answer: Answer | string; problem: string | undefined }> {
    const { result: answer, process, ms } = await costOf(watched, exchange);
    if (ms > costliest.ms) costliest = { ms, what: `${operation.name} in ${process}` };
    return { answer, problem: ms > 1_000 ? `${process} used ${ms} ms of CPU for the request` : undefined };
  }
}

/** A text is the reason why there is no answer. */
async function answerTo(call: Call, bytes: Buffer, connection: Connection): Promise<Answer | string> {
  try {
    return await connection.exchange(bytes, { isHead: call.method === 'HEAD', timeoutMs: answerTimeoutMs });
  } catch (error) {
    if (error instanceof NoAnswer) return error.message;
    throw error;
  }
}

async function cutOff({ cut }: Call, bytes: Buffer, connection: Connection): Promise<void> {
  if (cut === undefined) return;
  const length = 'share' in cut ? Math.ceil(bytes.length * cut.share) : bytes.length;
  await connection.sendAndLeave(bytes.subarray(0, length), 'afterMs' in cut ? cut.afterMs : 0);
}

const textOf = (call: Call): string =>
  `${call.path} ${JSON.stringify(call.headers)} ${call.fields.map(([, value]) => (typeof value === 'string' ? value : value.encoded)).join(' ')}`;
