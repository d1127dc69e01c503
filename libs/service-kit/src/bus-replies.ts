import type { Msg, MsgHdrs } from '@nats-io/nats-core';
import type { ChatError } from '@natter/contracts';
import type { Blocks } from './blocks.ts';
import { createHeaders, headerOf, setHeader } from './bus-headers.ts';
import type { Piece } from './json-pieces.ts';
import { type LagMeter, lagText } from './lag.ts';
import { createReporter } from './unreported-costs.ts';
import { costHeader, errorHeader, knownHeader, lagHeader, unreportedHeader } from './wire.ts';

interface Replies {
  /** `end`: when the caller gives up, in terms of `performance.now()`. */
  respond(message: Msg, pieces: readonly Piece[], given: { end: number; spentMs: () => number }): Promise<void>;
  refuse(message: Msg, error: ChatError, spentMs: () => number): void;
}

/** The answers of a service over the bus, with the CPU time that they cost, and the lag of this process and its cause. */
export function createReplies(blocks: Blocks, lag: LagMeter): Replies {
  const reportUnreported = createReporter(blocks.subject);
  return { respond, refuse };

  function refuse(message: Msg, { code, message: text, extra, status }: ChatError, spentMs: () => number): void {
    const h = costHeaders(spentMs);
    setHeader(h, errorHeader, code);
    const bytes = Buffer.from(JSON.stringify({ message: text, extra, status }));
    message.respond(blocks.offerBytes(bytes, h).payload, { headers: h });
  }

  function costHeaders(spentMs: () => number): MsgHdrs {
    const h = createHeaders();
    setHeader(h, costHeader, spentMs().toFixed(1));
    setHeader(h, lagHeader, lagText(lag.current()));
    const unreported = reportUnreported();
    if (unreported !== undefined) setHeader(h, unreportedHeader, unreported);
    return h;
  }

  async function respond(
    message: Msg,
    pieces: readonly Piece[],
    { end, spentMs }: { end: number; spentMs: () => number },
  ): Promise<void> {
    const h = costHeaders(spentMs);
    if (headerOf(message, knownHeader) === 'pieces') {
      message.respond(blocks.offer(pieces, h), { headers: h });
      return;
    }
    const bytes = Buffer.concat(await blocks.fetch(pieces, end));
    message.respond(blocks.offerBytes(bytes, h).payload, { headers: h });
  }
}
