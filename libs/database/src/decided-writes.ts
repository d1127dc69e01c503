import { holdsText, isStorable, type LogEntry, type LogEvent } from '@natter/contracts';
import { type Claim, type insertNumberedAnswers, numberedAnswer } from './claim.ts';
import { type Deadline, tooLate } from './deadline.ts';
import { isRow, type Numbered } from './numbered.ts';

/** One decided write, ready to be committed with others. */
export interface Decided {
  /** The expected versions. */
  expected: Record<string, number>;
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
  /** The number of characters in all its texts. */
  characters: number;
  deadline: Deadline | undefined;
  /** Adds milliseconds to the cost of the request. */
  charge: (ms: number) => void;
  resolve: (answer: never) => void;
  reject: (error: unknown) => void;
}

/** The number of characters of all texts of a write; undefined if Postgres cannot store one of them. */
export function storableCharacters({ events, numbered, answer }: Answered): number | undefined {
  const rows = numbered(0).map((one) => (isRow(one) ? one.row : one.values));
  let characters = 0;
  const isUnstorable = holdsText([events, rows, answer.rest], (text) => {
    characters += text.length;
    return !isStorable(text);
  });
  return isUnstorable ? undefined : characters;
}

const maxBatch = 100;
/** Long texts take many milliseconds to index, for which the other writes of the realm wait. */
const maxBatchCharacters = 400_000;

/**
 * Takes the longest run of waiting writes with compatible expected versions, within the limits. Refuses writes whose
 * deadline has passed.
 */
export function takeBatch(queue: Waiting[]): Waiting[] {
  while (queue[0]?.deadline?.hasEnded) queue.shift()?.reject(tooLate());
  const expected = new Map<string, number>();
  let count = 0;
  let characters = 0;
  for (const item of queue.slice(0, maxBatch)) {
    // The deadline of this write would abort the transaction of the whole batch.
    if (item.deadline?.hasEnded) break;
    characters += item.characters;
    if (count > 0 && characters > maxBatchCharacters) break;
    if (Object.entries(item.expected).some(([name, version]) => (expected.get(name) ?? version) !== version)) break;
    for (const [name, version] of Object.entries(item.expected)) expected.set(name, version);
    count++;
  }
  return queue.splice(0, count);
}

/** Refuses the writes whose deadline has passed: each aborts the transaction of its batch. Returns the others. */
export function refuseLate(batch: readonly Waiting[]): Waiting[] {
  return batch.filter(({ deadline, reject }) => {
    if (!deadline?.hasEnded) return true;
    reject(tooLate());
    return false;
  });
}

/** The events and rows of a batch from `takeBatch`, with the stored answers. */
export function writesOf(
  batch: readonly Waiting[],
  insertAnswers: ReturnType<typeof insertNumberedAnswers>,
): { expected: Record<string, number>; events: LogEvent[]; numbered: Numbered[] } {
  const expected: Record<string, number> = {};
  const numbered: Numbered[] = [];
  const events = batch.flatMap((item) => item.events);
  let fromEnd = events.length - 1;
  for (const { claim, answer, ...item } of batch) {
    Object.assign(expected, item.expected);
    numbered.push(...item.numbered(fromEnd));
    if (claim) numbered.push({ into: insertAnswers, row: numberedAnswer(claim, fromEnd, answer.named, answer.rest) });
    fromEnd -= item.events.length;
  }
  return { expected, events, numbered };
}

/** Each write is charged a share of `costMs` by the length of its texts. */
export function chargeAll(batch: readonly Waiting[], costMs: number): void {
  const all = batch.reduce((sum, { characters }) => sum + characters, 0);
  for (const { characters, charge } of batch) charge(costMs * (all > 0 ? characters / all : 1 / batch.length));
}

/** Answers the requests of a committed batch, which cost `costMs` together. */
export function resolveAll(batch: readonly Waiting[], entries: readonly LogEntry[], costMs: number): void {
  chargeAll(batch, costMs);
  let number = entries[0]?.number ?? 0;
  for (const { claim, answer, events, resolve } of batch) {
    const result = { ...answer.rest, [answer.named]: number };
    if (claim) claim.stored = { result };
    resolve(result as never);
    number += events.length;
  }
}
