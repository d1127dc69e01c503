import { createHash } from 'node:crypto';

/**
 * Bytes that come again, in other answers too: their name says their content, so that who has them once does not fetch them again.
 * Text of JSON without a meaning of its own, such as some members of a list.
 */
export class Block {
  readonly bytes: Uint8Array;
  readonly name: string;
  constructor(text: string) {
    this.bytes = Buffer.from(text);
    this.name = nameOf(this.bytes);
  }
}

export const nameOf = (bytes: Uint8Array): string => createHash('sha256').update(bytes).digest('base64url');

/** A block that stands with the process that offers it. */
export interface RemoteBlock {
  subject: string;
  name: string;
  /** Whether the name says the content. */
  isKept: boolean;
}

/** Of a JSON text: together they are the whole. Bytes are complete characters; the first and the last piece of an answer are bytes. */
export type Piece = Uint8Array | Block | RemoteBlock;

/**
 * A result, or a value in it, that is JSON already. What is large is written once, by its owner, and stays bytes until it is at the
 * client: a snapshot of megabytes that becomes a string at each hop costs more there than all that is done with it.
 */
export class JsonPieces {
  readonly pieces: readonly Piece[];
  constructor(pieces: readonly Piece[]) {
    this.pieces = pieces;
  }
}

const [openBrace, comma, closeBrace] = [Buffer.from('{'), Buffer.from(','), Buffer.from('}')];
const [openBracket, closeBracket] = [Buffer.from('['), Buffer.from(']')];

/** One object of the members of several, which have no name in common. */
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

/** A list of what these blocks hold; none is empty. */
export function listOf(blocks: readonly Block[]): JsonPieces {
  return new JsonPieces([
    openBracket,
    ...blocks.flatMap((block, i) => (i === 0 ? [block] : [comma, block])),
    closeBracket,
  ]);
}

/** An object of which some values are JSON already. */
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
