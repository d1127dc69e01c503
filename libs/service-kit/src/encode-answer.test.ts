import fc from 'fast-check';
import { expect, test } from 'vitest';
import { AnswerTooLarge, encodeAnswer } from './encode-answer.ts';
import { Block, JsonPieces } from './json-pieces.ts';

const mebibyte = 1024 * 1024;
const textOf = async (answer: unknown): Promise<string> =>
  Buffer.concat((await encodeAnswer(answer, 64 * mebibyte)) as Uint8Array[]).toString();

test('an answer is encoded like JSON, whatever the length of its collections', async () => {
  const entry = fc.oneof(fc.jsonValue(), fc.constant(undefined));
  const answer = fc.dictionary(
    fc.string(),
    fc.oneof(
      entry,
      fc.array(entry, { minLength: 100 }),
      fc.dictionary(fc.string(), entry, { minKeys: 65 }),
      fc.record({ inner: fc.array(entry, { minLength: 100 }), other: entry }),
    ),
  );
  await fc.assert(
    fc.asyncProperty(answer, async (value) => {
      expect(await textOf(value)).toBe(JSON.stringify(value));
    }),
    { numRuns: 50 },
  );
  expect(await textOf(undefined)).toBe('{}');
});

test('a long list is encoded in slices, and other work runs between them', async () => {
  const list = Array.from({ length: 1_000 }, () => 'x'.repeat(2_048));
  let [turns, isDone] = [0, false];
  const countTurns = (): void => {
    if (!isDone) setImmediate(countTurns);
    turns++;
  };
  setImmediate(countTurns);
  const pieces = await encodeAnswer({ list }, 64 * mebibyte);
  isDone = true;
  expect(pieces.length).toBe(8);
  expect(turns).toBeGreaterThanOrEqual(7);
  expect(Buffer.concat(pieces as Uint8Array[]).toString()).toBe(JSON.stringify({ list }));
});

test('an answer above the limit is rejected before it is completely encoded', async () => {
  let encoded = 0;
  const snapshot = { toJSON: () => `${encoded++}`.padEnd(200_000) };
  const list = Array.from({ length: 1_000 }, () => snapshot);
  const refused = await encodeAnswer({ list }, 2 * mebibyte).catch((error: unknown) => error);
  expect(refused).toBeInstanceOf(AnswerTooLarge);
  expect(refused).toMatchObject({ code: 'INTERNAL_ERROR', message: 'The answer is too large' });
  expect(encoded).toBeLessThan(20);
});

test('pieces and blocks count towards the limit', async () => {
  const bytes = Buffer.alloc(mebibyte, 'x');
  const answer = new JsonPieces([Buffer.from('"'), new Block(bytes.toString()), bytes, Buffer.from('"')]);
  await expect(encodeAnswer(answer, 2 * mebibyte)).rejects.toThrow('The answer is too large');
  expect(await encodeAnswer(answer, 3 * mebibyte)).toBe(answer.pieces);
});

test('a short list of long texts is refused as well', async () => {
  await expect(encodeAnswer({ list: ['x'.repeat(mebibyte)] }, mebibyte)).rejects.toThrow('The answer is too large');
});
