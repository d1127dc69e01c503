import { setImmediate } from 'node:timers/promises';
import { ChatError } from '@natter/contracts';
import { Block, JsonPieces, type Piece } from './json-pieces.ts';

/** JSON that is made in one turn of the event loop. */
const sliceUnits = 256 * 1024;
/** Shorter collections are encoded with the value that contains them. */
const fewEntries = 64;

/**
 * The pieces of an answer. Long collections of its top level are encoded in slices, so that other requests are served in
 * between. Rejects an answer of more than `maxBytes` before all of it is encoded. The bounds of every operation are far
 * below that: it limits the damage of a bound that is missing.
 */
export async function encodeAnswer(answer: unknown, maxBytes: number): Promise<readonly Piece[]> {
  const pieces = answer instanceof JsonPieces ? answer.pieces : await encode(answer ?? {}, maxBytes);
  if (bytesOf(pieces) > maxBytes) throw tooLarge(maxBytes);
  return pieces;
}

export class AnswerTooLarge extends ChatError {}
const tooLarge = (maxBytes: number): ChatError =>
  new AnswerTooLarge(
    'INTERNAL_ERROR',
    'The answer is too large',
    {},
    { cause: new Error(`more than ${maxBytes} bytes`) },
  );

/** The number of bytes, without blocks of other processes: these processes limit their size. */
const bytesOf = (pieces: readonly Piece[]): number =>
  pieces.reduce((sum, piece) => {
    if (piece instanceof Uint8Array) return sum + piece.length;
    return piece instanceof Block ? sum + piece.bytes.length : sum;
  }, 0);

async function encode(answer: object, maxBytes: number): Promise<Uint8Array[]> {
  if (!needsSlices(answer)) return [Buffer.from(JSON.stringify(answer))];
  const writer = jsonWriter(maxBytes);
  await addEntries(writer, answer);
  return writer.pieces();
}

/** Collections are looked for in the answer and in its fields: deeper ones are short in all operations. */
const needsSlices = (value: unknown, depth = 0): value is object =>
  typeof value === 'object' &&
  value !== null &&
  !('toJSON' in value) &&
  (isLong(value) ||
    (depth < 2 && !Array.isArray(value) && Object.values(value).some((one) => needsSlices(one, depth + 1))));

function isLong(value: object): boolean {
  if (Array.isArray(value)) return value.length > fewEntries;
  let count = 0;
  for (const _ in value) if (++count > fewEntries) return true;
  return false;
}

async function addEntries(writer: JsonWriter, value: object, depth = 0): Promise<void> {
  const isArray = Array.isArray(value);
  writer.add(isArray ? '[' : '{');
  let before = '';
  for (const [key, entry] of isArray ? value.entries() : Object.entries(value)) {
    const isSliced = !isArray && needsSlices(entry, depth + 1);
    const json = isSliced ? '' : JSON.stringify(entry);
    if (json === undefined && !isArray) continue;
    writer.add(`${before}${isArray ? '' : `${JSON.stringify(key)}:`}${json ?? 'null'}`);
    before = ',';
    if (isSliced) await addEntries(writer, entry, depth + 1);
    if (writer.isFull()) await writer.nextSlice();
  }
  writer.add(isArray ? ']' : '}');
}

type JsonWriter = ReturnType<typeof jsonWriter>;

/** Collects JSON text as bytes, in slices. */
function jsonWriter(maxBytes: number) {
  const slices: Uint8Array[] = [];
  let parts: string[] = [];
  let units = 0;
  let bytes = 0;
  const cut = (): void => {
    const slice = Buffer.from(parts.join(''));
    slices.push(slice);
    bytes += slice.length;
    [parts, units] = [[], 0];
    if (bytes > maxBytes) throw tooLarge(maxBytes);
  };
  return {
    add(json: string): void {
      parts.push(json);
      units += json.length;
    },
    isFull: () => units >= sliceUnits,
    async nextSlice(): Promise<void> {
      cut();
      await setImmediate();
    },
    pieces(): Uint8Array[] {
      cut();
      return slices;
    },
  };
}
