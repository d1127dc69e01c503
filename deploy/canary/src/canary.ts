/**
 * A user that continuously sends messages to itself and waits for them: the only measurement that covers everything
 * between a client's send and its receipt. It uses only the HTTP API, and does not assume that a message without an
 * answer was sent.
 */
import { randomUUID } from 'node:crypto';
import type { Logger, Metrics } from '@natter/service-kit';
import { z } from 'zod';
import { createCanaryMetrics } from './canary-metrics.ts';
import { createHttpClient } from './http-client.ts';

export interface CanaryOptions {
  url: string;
  email: string;
  apiKey: string;
  intervalMs: number;
  /** Acknowledged messages that have not arrived after this time count as undelivered. */
  patienceMs: number;
}

export interface Canary {
  stop(): Promise<void>;
}

const meSchema = z.looseObject({ user_id: z.number() });
const registerSchema = z.looseObject({ queue_id: z.string(), last_event_id: z.number() });
const eventsSchema = z.looseObject({
  events: z.array(
    z.looseObject({
      id: z.number(),
      type: z.string(),
      message: z.looseObject({ id: z.number(), content: z.string() }).optional(),
    }),
  ),
});

export function startCanary(options: CanaryOptions, log: Logger, metrics: Metrics): Canary {
  const stopping = new AbortController();
  const client = createHttpClient({ ...options, signal: stopping.signal });
  const me = randomUUID().slice(0, 8);
  /** Messages that were not delivered yet. By content: the times of the first attempt to send and of the answer. */
  const waiting = new Map<string, { sentAt: number; acknowledgedAt?: number }>();
  const delivered = new Set<string>();
  let highestId = 0;
  /** The ID of this user while its queue is followed. The address that it logs in with may not be its address in the API. */
  let recipient: number | undefined;
  const measured = createCanaryMetrics(metrics, () => {
    const since = Date.now() - options.patienceMs;
    return [...waiting.values()].filter(({ acknowledgedAt = Number.POSITIVE_INFINITY }) => acknowledgedAt < since)
      .length;
  });
  const loops = [forever(follow), forever(send)];
  return {
    stop: async () => {
      stopping.abort();
      await Promise.all(loops);
    },
  };

  /** Registers, then follows the queue until it is lost. */
  async function follow(): Promise<void> {
    const own = await client.request('GET', '/users/me', {});
    if (own.status !== 200) throw new Error(`users/me was answered ${own.status}`);
    const { user_id } = meSchema.parse(own.body);
    const registered = await client.request('POST', '/register', {
      event_types: '["message"]',
      apply_markdown: 'false',
      idle_queue_timeout: '3600',
    });
    if (registered.status !== 200) throw new Error(`register was answered ${registered.status}`);
    const { queue_id, last_event_id } = registerSchema.parse(registered.body);
    let cursor = last_event_id;
    recipient = user_id;
    while (!stopping.signal.aborted) {
      try {
        const { status, body } = await client.request('GET', '/events', { queue_id, last_event_id: String(cursor) });
        if (body.code === 'BAD_EVENT_QUEUE_ID') {
          // Messages that were in flight to the lost queue will never arrive.
          waiting.clear();
          recipient = undefined;
          measured.polled('failed');
          return measured.queueLost();
        }
        if (status !== 200) throw new Error(`a poll was answered ${status}`);
        measured.polled('answered');
        for (const { id, message } of eventsSchema.parse(body).events) {
          cursor = Math.max(cursor, id);
          if (message) receive(message.id, message.content);
        }
      } catch (error) {
        if (stopping.signal.aborted) return;
        measured.polled('failed');
        log.warn({ err: error }, 'the poll failed');
        await pause(500);
      }
    }
  }

  function receive(id: number, content: string): void {
    if (!content.startsWith(`canary ${me} `)) return;
    if (delivered.has(content)) {
      measured.doubled();
      return;
    }
    if (id < highestId) measured.reordered();
    highestId = Math.max(highestId, id);
    delivered.add(content);
    const sent = waiting.get(content);
    waiting.delete(content);
    if (sent) measured.delivered((Date.now() - sent.sentAt) / 1000);
    if (delivered.size > 10_000) for (const old of [...delivered].slice(0, 5_000)) delivered.delete(old);
  }

  async function send(): Promise<void> {
    await pause(options.intervalMs);
    if (recipient === undefined) return;
    const content = `canary ${me} ${Date.now()}`;
    const entry: { sentAt: number; acknowledgedAt?: number } = { sentAt: Date.now() };
    waiting.set(content, entry);
    try {
      const form = { type: 'direct', to: JSON.stringify([recipient]), content };
      const { status } = await client.request('POST', '/messages', form, content);
      measured.sent(status === 200 ? 'acknowledged' : status >= 500 ? 'unknown' : 'refused');
      if (status === 200) entry.acknowledgedAt = Date.now();
      else waiting.delete(content);
    } catch (error) {
      waiting.delete(content);
      if (!stopping.signal.aborted) measured.sent('unknown');
      throw error;
    }
  }

  async function forever(step: () => Promise<void>): Promise<void> {
    while (!stopping.signal.aborted) {
      try {
        await step();
      } catch (error) {
        if (!stopping.signal.aborted) log.warn({ err: error }, 'the canary got no answer');
        await pause(1_000);
      }
    }
  }

  function pause(milliseconds: number): Promise<void> {
    return new Promise((resolve) => {
      if (stopping.signal.aborted) return resolve();
      const timer = setTimeout(done, milliseconds);
      stopping.signal.addEventListener('abort', done, { once: true });
      function done(): void {
        clearTimeout(timer);
        stopping.signal.removeEventListener('abort', done);
        resolve();
      }
    });
  }
}
