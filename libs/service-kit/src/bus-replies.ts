import { headers, type Msg, type MsgHdrs } from '@nats-io/nats-core';
import type { ChatError } from '@natter/contracts';
import type { Blocks } from './blocks.ts';
import type { Piece } from './json-pieces.ts';
import { type LagMeter, lagText } from './lag.ts';
import { costHeader, errorHeader, knownHeader, lagHeader } from './wire.ts';

interface Replies {
  /** `end`: when the caller gives up, in terms of `performance.now()`. */
  respond(message: Msg, pieces: readonly Piece[], given: { end: number; spentMs: () => number }): Promise<void>;
  refuse(message: Msg, error: ChatError, spentMs: () => number): void;
}

/** The answers of a service over the bus, with the CPU time that they cost and the lag of this process. */
export function createReplies(blocks: Blocks, lag: LagMeter): Replies {
  return { respond, refuse };

  function refuse(message: Msg, { code, message: text, extra, status }: ChatError, spentMs: () => number): void {
    const h = costHeaders(spentMs);
    h.set(errorHeader, code);
    const bytes = Buffer.from(JSON.stringify({ message: text, extra, status }));
    message.respond(blocks.offerBytes(bytes, h).payload, { headers: h });
  }

  function costHeaders(spentMs: () => number): MsgHdrs {
    const h = headers();
    h.set(costHeader, spentMs().toFixed(1));
    h.set(lagHeader, lagText(lag.current()));
    return h;
  }

  async function respond(
    message: Msg,
    pieces: readonly Piece[],
    { end, spentMs }: { end: number; spentMs: () => number },
  ): Promise<void> {
    const h = costHeaders(spentMs);
    if (message.headers?.get(knownHeader) === 'pieces') {
      message.respond(blocks.offer(pieces, h), { headers: h });
      return;
    }
    const bytes = Buffer.concat(await blocks.fetch(pieces, end));
    message.respond(blocks.offerBytes(bytes, h).payload, { headers: h });
  }
}
