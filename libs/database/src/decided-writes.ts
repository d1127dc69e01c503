import { holdsText, isStorable, type LogEntry, type LogEvent } from '@natter/contracts';
import { type Claim, type insertNumberedAnswers, numberedAnswer } from './claim.ts';
import { type Deadline, tooLate } from './deadline.ts';
import { isRow, type Numbered } from './numbered.ts';

/** One decided write, ready to be committed with others. */
export interface Decided {
  basis: Record<string, number>;
  events: LogEvent[];
  /** Rows that contain log numbers. `fromEnd` is the distance of this item's first event from the end of the batch. */
  numbered: (fromEnd: number) => Numbered[];
}

/** A decided write and the answer of its request. */
export interface Answered<N extends string = string, R extends object = object> extends Decided {
  /** `rest`, plus the number of the first event under the name `named`. */
  answer: { named: N; rest: R };
  claim: Claim | undefined;
}

/** A decided write whose request waits for the commit. */
export interface Waiting extends Answered {
  deadline: Deadline | undefined;
  /** Adds milliseconds to the cost of the request. */
  charge: (ms: number) => void;
  resolve: (answer: never) => void;
  reject: (error: unknown) => void;
}

/** Whether Postgres can store every text of a write. */
export function isStorableWrite({ events, numbered, answer }: Answered): boolean {
  const rows = numbered(0).map((one) => (isRow(one) ? one.row : one.values));
  return !holdsText([events, rows, answer.rest], (text) => !isStorable(text));
}

const maxBatch = 100;

/**
 * Takes the longest run of waiting writes with compatible expected versions and distinct keys. Refuses writes whose
 * deadline has passed.
 */
export function takeBatch(queue: Waiting[]): Waiting[] {
  while (queue[0]?.deadline?.hasEnded) queue.shift()?.reject(tooLate());
  const basis = new Map<string, number>();
  const keys = new Set<string>();
  let count = 0;
  for (const item of queue.slice(0, maxBatch)) {
    // Its deadline would abort the batch for the others.
    if (item.deadline?.hasEnded) break;
    const key = item.claim && `${item.claim.userId} ${item.claim.key}`;
    if (key !== undefined && keys.has(key)) break;
    if (Object.entries(item.basis).some(([name, version]) => (basis.get(name) ?? version) !== version)) break;
    for (const [name, version] of Object.entries(item.basis)) basis.set(name, version);
    if (key !== undefined) keys.add(key);
    count++;
  }
  return queue.splice(0, count);
}

/** The events and rows of a batch from `takeBatch`, with the stored answers. */
export function writesOf(
  batch: readonly Waiting[],
  insertAnswers: ReturnType<typeof insertNumberedAnswers>,
): { basis: Record<string, number>; events: LogEvent[]; numbered: Numbered[] } {
  const basis: Record<string, number> = {};
  const numbered: Numbered[] = [];
  const events = batch.flatMap((item) => item.events);
  let fromEnd = events.length - 1;
  for (const { claim, answer, ...item } of batch) {
    Object.assign(basis, item.basis);
    numbered.push(...item.numbered(fromEnd));
    if (claim) numbered.push({ into: insertAnswers, row: numberedAnswer(claim, fromEnd, answer.named, answer.rest) });
    fromEnd -= item.events.length;
  }
  return { basis, events, numbered };
}

/** Answers the requests of a committed batch. Each is charged an equal share of `costMs`. */
export function resolveAll(batch: readonly Waiting[], entries: readonly LogEntry[], costMs: number): void {
  let number = entries[0]?.number ?? 0;
  for (const { claim, answer, events, charge, resolve } of batch) {
    charge(costMs / batch.length);
    const result = { ...answer.rest, [answer.named]: number };
    if (claim) claim.stored = { result };
    resolve(result as never);
    number += events.length;
  }
}
