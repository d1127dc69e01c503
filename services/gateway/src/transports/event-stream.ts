import type { ServerResponse } from 'node:http';
import { ChatError } from '@natter/contracts';
import type { FastifyReply } from 'fastify';
import { textBytes } from '../http/answer-memory.ts';
import { originHeaders } from '../http/other-origins.ts';
import type { Hangup, PollAnswer } from '../queues/polls.ts';
import { badQueue } from '../queues/queue-life.ts';

/**
 * The same queue as server-sent events: each has the event's id, so that `Last-Event-ID` resumes where a connection
 * broke. Ends when the queue ends, when a newer poll takes over, when its user polls too often, or when this process
 * stops.
 */
export async function streamEvents(
  { reply, hold, hangup }: { reply: FastifyReply; hold: (bytes: number) => boolean; hangup: Hangup },
  queueId: string,
  lastEventId: number,
  next: (lastEventId: number, isFirst?: boolean) => Promise<PollAnswer>,
): Promise<void> {
  // The first poll does not wait, and fails like a normal request, with an HTTP status.
  let answer = { ...(await next(lastEventId, true)), wasEnded: false };
  reply.hijack();
  reply.raw.writeHead(200, {
    ...originHeaders(reply.request.originalUrl),
    'x-content-type-options': 'nosniff',
    'content-type': 'text/event-stream; charset=utf-8',
    'cache-control': 'no-cache, no-store',
    'x-accel-buffering': 'no',
    'x-request-id': reply.request.id,
  });
  reply.raw.write('retry: 1000\n\n');
  try {
    for (;;) {
      const frames = answer.events.map((event) => `id: ${idOf(event)}\ndata: ${event}\n\n`).join('');
      // The client connects again and resumes.
      if (!hold(frames === '' ? 0 : textBytes(frames))) return;
      if (frames !== '' && !reply.raw.write(frames) && !hangup.isOver) await drained(reply.raw);
      hold(0);
      if (answer.isGone) throw badQueue(queueId);
      if (answer.wasEnded || hangup.isOver) break;
      answer = await next(answer.lastEventId);
    }
  } catch (error) {
    const { code, message, extra } =
      error instanceof ChatError ? error : new ChatError('INTERNAL_ERROR', 'Internal server error');
    const body = JSON.stringify({ result: 'error', msg: message, code, ...extra });
    const afterSeconds = extra['retry-after'];
    // An EventSource connects again after this time. It would give up at an answer with 429.
    const retry = afterSeconds === undefined ? '' : `retry: ${Math.ceil(Number(afterSeconds) * 1_000)}\n`;
    reply.raw.write(`${retry}event: error\ndata: ${body}\n\n`);
  }
  reply.raw.end();
}

const drained = (response: ServerResponse): Promise<void> =>
  new Promise((resolve) => {
    const done = (): void => {
      response.off('drain', done).off('close', done);
      resolve();
    };
    response.on('drain', done).on('close', done);
  });

const idOf = (event: string): string => event.slice(event.lastIndexOf('"id":') + 5, -1);
