import type { IncomingMessage } from 'node:http';
import { withDeadline } from '@natter/database';
import { notice, plain } from '../model/notice-text.ts';
import {
  bodyOf,
  checkedUrl,
  guardedRequest,
  type ReachRules,
  Refused,
  RefusedName,
} from '../model/outgoing/guarded-request.ts';
import { DeliveryFailed } from './delivery-failed.ts';
import { invalid, type Reply, replyOf, requestOf, type Triggering, type Webhook } from './webhook-format.ts';

/** Limit of the whole call, with the look-up of the name and the response. */
const timeoutMs = 10_000;
const maxResponseBytes = 100 * 1024;

const unavailable = 'Bot is unavailable';

/** Posts a message to the address of a bot; returns its reply. Throws `DeliveryFailed`. */
export async function callWebhook(
  webhook: Webhook,
  triggering: Triggering,
  rules: ReachRules,
): Promise<Reply | undefined> {
  const { contentType, body } = requestOf(webhook, triggering);
  const headers = { 'content-type': contentType, accept: 'application/json' };
  const text = await withDeadline(timeoutMs, ({ signal }) =>
    textOf(async () => {
      const url = checkedUrl(webhook.base_url, rules);
      return guardedRequest(url, rules, { method: 'POST', headers, body, signal });
    }).catch((error: unknown) => {
      throw failureOf(error, signal.aborted);
    }),
  );
  try {
    return replyOf(webhook, text);
  } catch (error) {
    throw error instanceof DeliveryFailed ? error : invalid('format');
  }
}

async function textOf(request: () => Promise<IncomingMessage>): Promise<string> {
  const response = await request();
  const status = response.statusCode ?? 0;
  if (status >= 200 && status < 300)
    return (await bodyOf(response, maxResponseBytes).catch(refusedBody)).toString('utf8');
  response.destroy();
  throw new DeliveryFailed({
    shown: `Third party responded with ${status}`,
    told: notice`The webhook got a response with status code *${status}*.`,
    isTransient: status >= 500,
  });
}

function refusedBody(error: unknown): never {
  if (error instanceof Refused)
    throw new DeliveryFailed({
      shown: 'Invalid response format',
      told: notice`The response is compressed or larger than ${maxResponseBytes / 1024} KiB.`,
    });
  throw error;
}

function failureOf(error: unknown, isTimeout: boolean): DeliveryFailed {
  if (error instanceof DeliveryFailed) return error;
  // A refused name fails like a missing one, so that owners of bots do not learn which internal names exist.
  if (error instanceof Refused && !(error instanceof RefusedName))
    return new DeliveryFailed({
      shown: unavailable,
      told: notice`The webhook was refused: ${plain(error.message)}.`,
    });
  const told = isTimeout
    ? notice`Request timed out after ${timeoutMs / 1000} seconds.`
    : notice`A connection error occurred. Is my bot server down?`;
  return new DeliveryFailed({ shown: unavailable, told, isTransient: true });
}
