import { randomUUID } from 'node:crypto';
import { type Msg, type MsgHdrs, type NatsConnection, TimeoutError } from '@nats-io/nats-core';
import { limits, unavailable } from '@natter/contracts';
import { LRUCache } from 'lru-cache';
import { headerOf, setHeader } from './bus-headers.ts';
import { Block, inParts, nameOf, type Piece } from './json-pieces.ts';
import type { Logger } from './logging.ts';
import { subscribe } from './subscribe.ts';

/**
 * Transfers messages that are larger than NATS permits (snapshots of realms, uploaded files), in one of two ways.
 *
 * Plain bytes travel in numbered parts: the message contains the first one and names a subject from which the receiver
 * fetches the others by number.
 *
 * A result that consists of pieces lists them: short pieces as text, blocks by name. The receiver fetches each block
 * from the process that offers it. A process that forwards a result does not read its blocks, and a block that was
 * fetched before is not fetched again.
 *
 * Subjects and names are random, so a service can fetch only what was offered to it. Pieces are sent only to callers that
 * announce support for them, because processes of the previous release run side by side during an upgrade.
 */
export interface Blocks {
  /** Subject from which blocks of this process are fetched. No other process subscribes to it. */
  readonly subject: string;
  /** The payload that represents these pieces. */
  offer(pieces: readonly Piece[], headers: MsgHdrs): Uint8Array;
  /** The payload that represents these bytes, and whose parts are offered for `forMs`; `end` withdraws them earlier. */
  offerBytes(bytes: Uint8Array, headers: MsgHdrs, forMs?: number): { payload: Uint8Array; end: () => void };
  /** The pieces of a message; blocks of a result are not fetched. */
  read(message: Msg, end: number): Promise<Piece[]>;
  /** The bytes of all pieces. Rejects if they are not complete by `end` (in terms of `performance.now()`). */
  fetch(pieces: readonly Piece[], end: number): Promise<Uint8Array[]>;
  /** Resolves when the last offer has probably been fetched. */
  settled(): Promise<void>;
}

const header = 'Natter-Pieces';
const partsHeader = 'Natter-Parts';
const partsSubjectHeader = 'Natter-Parts-Subject';
/** Blocks of one result that are fetched in parallel; few, so that other messages are served in between. */
const abreast = 4;
/** Shorter pieces are part of the message. */
const inlineBytes = 8 * 1024;
/** A longer list of pieces travels in parts, which processes of the previous release do not expect. */
const maxListBytes = 768 * 1024;
/** How long an offer can be fetched. */
const offeredMs = 30_000;
const settleMs = 1_000;
/** A block is requested again after this time, varied by a fifth: NATS loses messages when it restarts. */
const askAgainMs = 2_000;
/** Maximum bytes of the cached blocks that other processes offered. */
export const keptBlockBytes = 64 * 1024 * 1024;
const budgetBytes = 256 * 1024 * 1024;
/** Part of the budget for blocks that were sent, and whose receiver has not confirmed them: their answer may be lost. */
const sentBytes = 64 * 1024 * 1024;
/** Maximum number of blocks of one message: a process offers no more bytes than its budget. */
const maxParts = budgetBytes / limits.busBlockBytes;
/** Begins the name of a block that its receiver has. */
const received = 'received ';
const forgetEveryMs = 10_000;

type Listed = string | { subject: string; name: string; isKept: boolean };

export function createBlocks(connection: NatsConnection, user: string, log: Pick<Logger, 'error'>): Blocks {
  const subject = `natter-parts.${user}.${randomUUID()}`;
  const offers = (maxSize: number) =>
    new LRUCache<string, { bytes: Uint8Array; isKept: boolean }>({
      maxSize,
      ttl: offeredMs,
      sizeCalculation: ({ bytes }) => bytes.length,
    });
  const offered = offers(budgetBytes - sentBytes);
  const sent = offers(sentBytes);
  setInterval(() => {
    offered.purgeStale();
    sent.purgeStale();
  }, forgetEveryMs).unref();
  const kept = new LRUCache<string, Uint8Array>({ maxSize: keptBlockBytes, sizeCalculation: ({ length }) => length });
  let lastOffer = Number.NEGATIVE_INFINITY;
  subscribe(connection, subject, log, (request) => {
    const name = request.string();
    if (!request.reply) {
      if (name.startsWith(received)) sent.delete(name.slice(received.length));
      return;
    }
    const block = offered.get(name) ?? sent.get(name);
    give(request, block?.bytes);
    if (block?.isKept !== false) return;
    // A block with one receiver is not offered any more. It is kept for a while, because the reply may be lost.
    offered.delete(name);
    sent.set(name, block);
  });

  /** Replies with a block. If NATS rejects it, the reply is empty: without a reply, the receiver would ask again. */
  function give(request: Msg, bytes: Uint8Array | undefined): void {
    try {
      request.respond(bytes);
    } catch (error) {
      log.error({ err: error, bytes: bytes?.length }, 'NATS did not take a part of a message');
      request.respond();
    }
  }

  function put(name: string, bytes: Uint8Array, isKept: boolean): Listed {
    offered.set(name, { bytes, isKept });
    lastOffer = performance.now();
    return { subject, name, isKept };
  }

  function list(piece: Piece): Listed[] {
    if (piece instanceof Block)
      return piece.bytes.length <= inlineBytes
        ? [textOf(piece.bytes)]
        : piece.parts.map(({ name, bytes }) => put(name, bytes, true));
    if (!(piece instanceof Uint8Array)) return [piece];
    if (piece.length <= inlineBytes) return [textOf(piece)];
    // The first and the last byte stay in the message, because `joinObjects` removes the braces.
    const blocks = inParts(piece.subarray(1, -1)).map((part) => put(randomUUID(), part, false));
    return [textOf(piece.subarray(0, 1)), ...blocks, textOf(piece.subarray(-1))];
  }

  async function ask({ subject, name, isKept }: Exclude<Listed, string>, end: number): Promise<Uint8Array> {
    const known = isKept ? kept.get(name) : undefined;
    if (known) return known;
    const data = await dataOf(subject, name, end);
    if (data.length === 0) throw unavailable(new Error('The offered data is no longer available'));
    if (!isKept) {
      confirm(subject, name);
      return data;
    }
    if (nameOf(data) !== name) throw unavailable(new Error('The content of a block does not match its name'));
    // The received bytes may be a view of a larger buffer, which would stay in memory.
    const block = data.slice();
    kept.set(name, block);
    return block;
  }

  /** Processes of the previous release ignore it. */
  function confirm(subject: string, name: string): void {
    try {
      connection.publish(subject, received + name);
    } catch {
      // The block is forgotten with its offer.
    }
  }

  async function dataOf(subject: string, name: string, end: number): Promise<Uint8Array> {
    for (;;) {
      const leftMs = Math.max(end - performance.now(), 1);
      const timeout = Math.min(leftMs, askAgainMs * (0.8 + Math.random() * 0.4));
      try {
        return (await connection.request(subject, name, { timeout })).data;
      } catch (error) {
        if (!(error instanceof TimeoutError) || timeout === leftMs) throw unavailable(error);
      }
    }
  }

  async function fetchAll(pieces: readonly Piece[], end: number): Promise<Uint8Array[]> {
    const fetched = pieces.map((piece) => (piece instanceof Block ? piece.bytes : piece));
    if (fetched.every((piece) => piece instanceof Uint8Array)) return fetched;
    let next = 0;
    const fetchOn = async (): Promise<void> => {
      for (let at = next++; at < fetched.length; at = next++) {
        const piece = fetched[at];
        if (piece && !(piece instanceof Uint8Array)) fetched[at] = await ask(piece, end);
      }
    };
    await Promise.all(Array.from({ length: abreast }, fetchOn));
    return fetched as Uint8Array[];
  }

  function offerBytes(bytes: Uint8Array, headers: MsgHdrs, forMs = offeredMs) {
    const parts = inParts(bytes);
    if (parts.length <= 1) return { payload: bytes, end: () => undefined };
    const subject = `natter-parts.${user}.${randomUUID()}`;
    const subscription = subscribe(connection, subject, log, (request) => {
      if (request.reply) give(request, parts[Number(request.string())]);
    });
    const timer = setTimeout(() => subscription.unsubscribe(), forMs);
    subscription.closed.then(() => clearTimeout(timer));
    setHeader(headers, partsHeader, String(parts.length));
    setHeader(headers, partsSubjectHeader, subject);
    lastOffer = performance.now();
    return { payload: parts[0] as Uint8Array, end: () => subscription.unsubscribe() };
  }

  /** All bytes of a message, of which `message` may be the first part. */
  async function wholeOf(message: Msg, end: number): Promise<Uint8Array> {
    const { data } = message;
    const parts = Number(headerOf(message, partsHeader) || 1);
    if (parts === 1) return data;
    if (!(parts <= maxParts)) throw new Error(`${parts} parts of a message are too many`);
    const subject = headerOf(message, partsSubjectHeader);
    const rest = Array.from({ length: parts - 1 }, (_, index) => ({ subject, name: String(index + 1), isKept: false }));
    return Buffer.concat([data, ...(await fetchAll(rest, end))]);
  }

  return {
    subject,

    offer(pieces, headers) {
      const [only] = pieces;
      if (pieces.length === 1 && only instanceof Uint8Array && only.length <= limits.busBlockBytes) return only;
      setHeader(headers, header, '1');
      const listed = Buffer.from(JSON.stringify(pieces.flatMap(list)));
      return listed.length <= maxListBytes ? listed : offerBytes(listed, headers).payload;
    },

    offerBytes,

    async read(message, end) {
      const bytes = await wholeOf(message, end);
      if (!headerOf(message, header)) return [bytes];
      return (JSON.parse(textOf(bytes)) as Listed[]).map((one) => (typeof one === 'string' ? Buffer.from(one) : one));
    },

    fetch: fetchAll,

    settled: () =>
      new Promise((resolve) => {
        setTimeout(resolve, Math.max(lastOffer + settleMs - performance.now(), 0));
      }),
  };
}

const textOf = (bytes: Uint8Array): string => Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString();
