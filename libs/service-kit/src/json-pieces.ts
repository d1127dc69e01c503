import { createHash } from 'node:crypto';
import { limits } from '@natter/contracts';

/**
 * Bytes that several answers share, in parts that one message can carry. The name of a part identifies its content, so a
 * process that has it does not fetch it again. The text need not be a JSON value of its own, for example some members of
 * a list.
 */
export class Block {
  readonly bytes: Uint8Array;
  readonly parts: readonly { name: string; bytes: Uint8Array }[];
  constructor(text: string) {
    this.bytes = Buffer.from(text);
    this.parts = inParts(this.bytes).map((bytes) => ({ name: nameOf(bytes), bytes }));
  }
}

/** Cuts bytes into parts that fit into a message of NATS. */
export const inParts = (bytes: Uint8Array): Uint8Array[] =>
  Array.from({ length: Math.ceil(bytes.length / limits.busBlockBytes) }, (_, index) =>
    bytes.subarray(index * limits.busBlockBytes, (index + 1) * limits.busBlockBytes),
  );

export const nameOf = (bytes: Uint8Array): string => createHash('sha256').update(bytes).digest('base64url');

/** A block held by the process that offers it. */
interface RemoteBlock {
  subject: string;
  name: string;
  /** Whether the name identifies the content. */
  isKept: boolean;
}

/**
 * A piece of a JSON text: concatenated, the pieces form the text. Bytes consist of complete characters; the first and
 * the last piece of an answer are bytes.
 */
export type Piece = Uint8Array | Block | RemoteBlock;

/**
 * A result, or a value in it, that is JSON already. The owner serializes large values once, and they remain bytes up to
 * the client: converting a snapshot of megabytes to a string at each hop costs more than all other work on it.
 */
export class JsonPieces {
  readonly pieces: readonly Piece[];
  constructor(pieces: readonly Piece[]) {
    this.pieces = pieces;
  }
}

const [openBrace, comma, closeBrace] = [Buffer.from('{'), Buffer.from(','), Buffer.from('}')];
const [openBracket, closeBracket] = [Buffer.from('['), Buffer.from(']')];

/** Merges objects that have no member name in common. */
export function joinObjects<P extends Piece>(objects: readonly (string | readonly P[])[]): (P | Uint8Array)[] {
  const joined: (P | Uint8Array)[] = [openBrace];
  for (const object of objects) {
    const members = membersOf(object);
    if (members.length === 0) continue;
    if (joined.length > 1) joined.push(comma);
    joined.push(...members);
  }
  return [...joined, closeBrace];
}

function membersOf<P extends Piece>(object: string | readonly P[]): (P | Uint8Array)[] {
  const pieces: (P | Uint8Array)[] = typeof object === 'string' ? [Buffer.from(object)] : [...object];
  const isEmpty = (piece: Piece | undefined): boolean => piece instanceof Uint8Array && piece.length === 0;
  const [first] = pieces;
  if (first instanceof Uint8Array) pieces[0] = first.subarray(1);
  const last = pieces.at(-1);
  if (last instanceof Uint8Array) pieces[pieces.length - 1] = last.subarray(0, -1);
  return pieces.filter((piece) => !isEmpty(piece));
}

/** A list of the contents of these blocks; none is empty. */
export function listOf(blocks: readonly Block[]): JsonPieces {
  return new JsonPieces([
    openBracket,
    ...blocks.flatMap((block, i) => (i === 0 ? [block] : [comma, block])),
    closeBracket,
  ]);
}

/** An object some of whose values are JSON already. */
export function toJson(object: Record<string, unknown>): JsonPieces {
  const written = Object.entries(object).filter(
    (entry): entry is [string, JsonPieces] => entry[1] instanceof JsonPieces,
  );
  if (written.length === 0) return new JsonPieces([Buffer.from(JSON.stringify(object))]);
  const rest = Object.fromEntries(Object.entries(object).filter(([, value]) => !(value instanceof JsonPieces)));
  return new JsonPieces(
    joinObjects([
      JSON.stringify(rest),
      ...written.map(([name, { pieces }]) => [Buffer.from(`{${JSON.stringify(name)}:`), ...pieces, closeBrace]),
    ]),
  );
}
