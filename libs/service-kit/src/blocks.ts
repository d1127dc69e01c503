import { randomUUID } from 'node:crypto';
import type { Msg, MsgHdrs, NatsConnection } from '@nats-io/nats-core';
import { limits, unavailable } from '@natter/contracts';
import { LRUCache } from 'lru-cache';
import { Block, nameOf, type Piece } from './json-pieces.ts';

/**
 * What is larger than a message of NATS may be (snapshots of whole realms, uploaded files) travels in two ways. Plain bytes go in
 * numbered parts: the first with the message, which names a subject where each of the others is had by its number. Of a result that
 * consists of pieces the message lists them, short ones as text and blocks by their names, and the receiver asks the process that
 * offers them for each block: who only passes pieces on never sees what is in them, and a block that comes again is fetched once.
 * Subjects and names can't be guessed: a service that may fetch from another gets only what it was told of.
 * Results come in pieces only to callers who say that they know them: versions from before run beside this one while it is rolled out.
 */
export interface Blocks {
  /** What to send for these pieces. */
  offer(pieces: readonly Piece[], headers: MsgHdrs): Uint8Array;
  /** What to send for these bytes; `end` takes back what was not fetched. */
  offerBytes(bytes: Uint8Array, headers: MsgHdrs): { payload: Uint8Array; end: () => void };
  /** The pieces of a message; blocks of a result are not fetched. */
  read(message: Msg, end: number): Promise<Piece[]>;
  /** The bytes of all pieces; by `end` (milliseconds since 1970) it has them or rejects. */
  fetch(pieces: readonly Piece[], end: number): Promise<Uint8Array[]>;
  /** Resolves when what was offered last can be expected to have been fetched. */
  settled(): Promise<void>;
}

const header = 'Natter-Pieces';
const partsHeader = 'Natter-Parts';
const partsSubjectHeader = 'Natter-Parts-Subject';
/** Shorter ones go with the message. */
const inlineBytes = 8 * 1024;
/** How long a receiver has. */
const offeredMs = 30_000;
const settleMs = 1_000;
/** Of what other processes offered, for answers to come. */
const keptBytes = 64 * 1024 * 1024;
const offeredBytes = 256 * 1024 * 1024;

type Listed = string | { subject: string; name: string; isKept: boolean };

export function createBlocks(connection: NatsConnection, user: string): Blocks {
  const subject = `natter-parts.${user}.${randomUUID()}`;
  const offered = new LRUCache<string, { bytes: Uint8Array; isKept: boolean }>({
    maxSize: offeredBytes,
    ttl: offeredMs,
    sizeCalculation: ({ bytes }) => bytes.length,
  });
  const kept = new LRUCache<string, Uint8Array>({ maxSize: keptBytes, sizeCalculation: ({ length }) => length });
  let lastOffer = 0;
  connection.subscribe(subject, {
    callback: (error, request) => {
      if (error) return;
      const name = request.string();
      const block = offered.get(name);
      request.respond(block?.bytes);
      // Nobody else was told of it.
      if (block?.isKept === false) offered.delete(name);
    },
  });

  function put(name: string, bytes: Uint8Array, isKept: boolean): Listed {
    offered.set(name, { bytes, isKept });
    lastOffer = Date.now();
    return { subject, name, isKept };
  }

  function list(piece: Piece): Listed[] {
    if (piece instanceof Block)
      return piece.bytes.length <= inlineBytes ? [textOf(piece.bytes)] : [put(piece.name, piece.bytes, true)];
    if (!(piece instanceof Uint8Array)) return [piece];
    if (piece.length <= inlineBytes) return [textOf(piece)];
    // The first and the last byte stay with the message: who joins objects takes off their braces.
    const end = piece.length - 1;
    const blocks: Listed[] = [];
    for (let at = 1; at < end; at += limits.busBlockBytes)
      blocks.push(put(randomUUID(), piece.subarray(at, Math.min(at + limits.busBlockBytes, end)), false));
    return [textOf(piece.subarray(0, 1)), ...blocks, textOf(piece.subarray(end))];
  }

  async function ask({ subject, name, isKept }: Exclude<Listed, string>, end: number): Promise<Uint8Array> {
    const known = isKept ? kept.get(name) : undefined;
    if (known) return known;
    const timeout = Math.max(end - Date.now(), 1);
    const { data } = await connection.request(subject, name, { timeout }).catch((error: unknown) => {
      throw unavailable(error);
    });
    if (data.length === 0) throw unavailable(new Error('What was offered is gone'));
    if (!isKept) return data;
    if (nameOf(data) !== name) throw unavailable(new Error('A block is not what its name says'));
    // What came may be a view of a larger buffer, which would be kept with it.
    const block = data.slice();
    kept.set(name, block);
    return block;
  }

  return {
    offer(pieces, headers) {
      const [only] = pieces;
      if (pieces.length === 1 && only instanceof Uint8Array && only.length <= limits.busBlockBytes) return only;
      headers.set(header, '1');
      return Buffer.from(JSON.stringify(pieces.flatMap(list)));
    },

    offerBytes(bytes, headers) {
      if (bytes.length <= limits.busBlockBytes) return { payload: bytes, end: () => undefined };
      const subject = `natter-parts.${user}.${randomUUID()}`;
      const part = (index: number): Uint8Array =>
        bytes.subarray(index * limits.busBlockBytes, (index + 1) * limits.busBlockBytes);
      const subscription = connection.subscribe(subject, {
        callback: (_, request) => void request.respond(part(Number(request.string()))),
      });
      const timer = setTimeout(() => subscription.unsubscribe(), offeredMs);
      subscription.closed.then(() => clearTimeout(timer));
      headers.set(partsHeader, String(Math.ceil(bytes.length / limits.busBlockBytes)));
      headers.set(partsSubjectHeader, subject);
      lastOffer = Date.now();
      return { payload: part(0), end: () => subscription.unsubscribe() };
    },

    async read(message, end) {
      const { headers } = message;
      if (headers?.has(header))
        return (JSON.parse(message.string()) as Listed[]).map((one) =>
          typeof one === 'string' ? Buffer.from(one) : one,
        );
      const parts = Number(headers?.get(partsHeader) || 1);
      if (parts === 1) return [message.data];
      const subject = headers?.get(partsSubjectHeader) ?? '';
      const numbers = Array.from({ length: parts - 1 }, (_, index) => String(index + 1));
      const rest = await Promise.all(numbers.map((name) => ask({ subject, name, isKept: false }, end)));
      return [Buffer.concat([message.data, ...rest])];
    },

    fetch: (pieces, end) =>
      Promise.all(
        pieces.map((piece) => {
          if (piece instanceof Uint8Array) return piece;
          return piece instanceof Block ? piece.bytes : ask(piece, end);
        }),
      ),

    settled: () =>
      new Promise((resolve) => {
        setTimeout(resolve, Math.max(lastOffer + settleMs - Date.now(), 0));
      }),
  };
}

const textOf = (bytes: Uint8Array): string => Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString();
