import {
  type Actor,
  botOperations,
  ChatError,
  isClosed,
  isOutage,
  isRefusal,
  type RequestMeta,
  unknownUser,
} from '@natter/contracts';
import { type Database, type Decided, sql, untilDeadline, VersionsChanged, withDeadline } from '@natter/database';
import type { RealmPolicies, UserVisibility } from '@natter/realm-policy';
import type { Renderer } from '@natter/renderer';
import type { Background, Bus } from '@natter/service-kit';
import { z } from 'zod';
import type { Authors } from '../model/authors.ts';
import { waitForPeopleAndGroups } from '../model/group-versions.ts';
import type { MessageAccess } from '../model/message-access.ts';
import { asCode, notice } from '../model/notice-text.ts';
import type { ReachRules } from '../model/outgoing/guarded-request.ts';
import { messageObjects } from '../model/reading/message-object.ts';
import type { DecideSend } from '../model/sending/decide-planned.ts';
import { isContested } from '../model/sending/send-params.ts';
import { waitForConsumers } from '../model/wait-for-consumers.ts';
import { callWebhook } from './call-webhook.ts';
import { DeliveryFailed } from './delivery-failed.ts';
import {
  type DeliveryRow,
  drop,
  end,
  maxAttempts,
  postpone,
  postponeClosed,
  postponeUnreadable,
  repeatSoon,
} from './delivery-row.ts';
import { failureText, notifyIfFull, notifyOfWebhook } from './notify-of-webhook.ts';
import type { Reply, Triggering, Webhook } from './webhook-format.ts';

export interface WebhookDelivery {
  database: Database;
  background: Background;
  bus: Pick<Bus, 'call'>;
  renderer: Renderer;
  authors: Authors;
  messages: MessageAccess;
  policies: RealmPolicies;
  userVisibility: UserVisibility;
  decideSend: DecideSend;
  rules: ReachRules;
}

/**
 * `closed`: the realm is deactivated, and its messages wait. `dropped`: the bot or the message is gone, the bot may not
 * read the message any more, or it got another owner after the post.
 */
export type WebhookOutcome = 'replied' | 'no reply' | 'retried' | 'failed' | 'closed' | 'dropped';

interface Called {
  webhook: Webhook;
  bot: Actor;
  meta: RequestMeta;
  triggering: Triggering;
}

/** The bot got another owner after the post. The response is from the address of the former owner and is not sent. */
class OwnerChanged extends Error {}

const maxDecisions = 5;
/** Maintains what a bot may read: the times of subscriptions and the privacy of channels. */
const periods = [
  { name: 'periods', type: 'subscription' },
  { name: 'periods', type: 'stream' },
];
/** Maximum time to prepare a post, so that the lease leaves time for the post and for storing the outcome. */
const prepareMs = 8_000;

/**
 * Posts a message to a bot and sends its reply. The transaction that inserts the reply deletes the row, so each message
 * has one reply at most, although a request is repeated if a process dies after it. A message that was not posted when the
 * process stops is left to another one.
 */
export async function deliverWebhook(
  delivery: WebhookDelivery,
  row: DeliveryRow,
  isStopped: () => boolean,
): Promise<WebhookOutcome> {
  try {
    return await tryToDeliver(delivery, row, isStopped);
  } catch (error) {
    if (error instanceof OwnerChanged) {
      await drop(delivery.database, row);
      return 'dropped';
    }
    // The realm was deactivated at some step, so this counts as no failure of the post or of the reply.
    if (!isClosed(error)) throw error;
    await postponeClosed(delivery.database, row);
    return 'closed';
  }
}

async function tryToDeliver(
  delivery: WebhookDelivery,
  row: DeliveryRow,
  isStopped: () => boolean,
): Promise<WebhookOutcome> {
  if (row.attempts > maxAttempts) {
    await drop(delivery.database, row);
    return 'failed';
  }
  const preparing = withDeadline(prepareMs, () => untilDeadline(prepareOnCurrent(delivery, row)));
  const called = await preparing.catch(async (error: unknown) => {
    const isBehind = error instanceof VersionsChanged;
    // Nothing was posted yet, so this is no attempt. Outages after the post count as attempts, because otherwise the bot
    // would get the message again and again for hours.
    if (isOutage(error) || isBehind) await repeatSoon(delivery.database, row);
    if (isBehind) return 'behind' as const;
    throw error;
  });
  if (called === 'behind') return 'retried';
  if (called === 'unreadable' && (await postponeUnreadable(delivery.database, row))) return 'retried';
  if (called === 'unreadable' || called === 'inactive') {
    await drop(delivery.database, row);
    return 'dropped';
  }
  await notifyIfFull(delivery, row, called.webhook);
  if (isStopped()) {
    await repeatSoon(delivery.database, row);
    return 'retried';
  }
  try {
    const reply = await callWebhook(called.webhook, called.triggering, delivery.rules);
    if (reply) await sendReply(delivery, row, called, reply);
    else await drop(delivery.database, row);
    return reply ? 'replied' : 'no reply';
  } catch (error) {
    if (!(error instanceof DeliveryFailed)) throw error;
    if (error.isTransient && (await postpone(delivery.database, row))) return 'retried';
    await fail(delivery, row, called, error);
    return 'failed';
  }
}

/** A message that will be dropped if it is unreadable is read on a current projection. Throws `VersionsChanged` if that lags. */
async function prepareOnCurrent(delivery: WebhookDelivery, row: DeliveryRow): ReturnType<typeof prepare> {
  const called = await prepare(delivery, row);
  if (called !== 'unreadable' || !row.is_late) return called;
  await waitForConsumers(delivery.database, row.realm_id, periods);
  return prepare(delivery, row);
}

/**
 * Reads everything that the request contains, as the bot may see it now. `unreadable`: the message is deleted, or the bot
 * may not read it, or the projection of subscriptions does not contain the newest one of the bot yet.
 */
async function prepare(delivery: WebhookDelivery, row: DeliveryRow): Promise<Called | 'inactive' | 'unreadable'> {
  const { database, bus, renderer, authors, messages, policies, userVisibility } = delivery;
  const { realm_id: realmId, bot_id: botId, message_id } = row;
  const requestId = `webhook-${botId}-${message_id}`;
  const meta: RequestMeta = { requestId, realmId, client: 'OutgoingWebhookResponse' };
  const { webhook } = await bus.call(botOperations.getOutgoingWebhook, { user_id: botId }, { meta });
  if (!webhook) return 'inactive';
  try {
    const bot = await authors.get(meta, botId, true);
    await messages.readable(database, bot, meta, message_id);
    const policy = await policies.get(meta, false);
    const hidden = await userVisibility.hiddenFrom(bot, meta, policy);
    const viewer = { realmId, userId: botId, policy };
    const [message] = await messageObjects(database, viewer, [message_id], {
      renderer,
      applyMarkdown: false,
      clientGravatar: false,
      allowEmptyTopic: true,
      unknown: new Map([...hidden].map((id) => [id, unknownUser(id, policy.host)])),
    });
    const rendered = await database.maybeOne(sql.type(z.object({ rendered_content: z.string() }))`
      SELECT rendered_content FROM messaging.message WHERE realm_id = ${realmId} AND id = ${message_id}`);
    if (!message || !rendered) return 'unreadable';
    const { rendered_content: renderedContent } = rendered;
    return { webhook, bot, meta, triggering: { botId, realmId, host: policy.host, message, renderedContent } };
  } catch (error) {
    if (isRefusal(error) && !isClosed(error)) return 'unreadable';
    throw error;
  }
}

/** Sends the reply under the rules for every message of the bot. Throws `DeliveryFailed` if these refuse it. */
async function sendReply(delivery: WebhookDelivery, row: DeliveryRow, called: Called, reply: Reply): Promise<void> {
  await withDecision(delivery, called, reply, async (decided) => {
    if (decided instanceof ChatError)
      throw new DeliveryFailed({
        // The text may contain names of channels and addresses of people that its readers may not know.
        shown: `The reply was refused (${decided.code})`,
        told: notice`The reply was refused with the error code ${asCode(decided.code)}.`,
      });
    await delivery.background(row.realm_id, async (work) => {
      if (await end(work, row)) emit(work, decided);
    });
  });
}

/** Shows the failure in the conversation, if the bot may write there, and to the owner of the bot. */
async function fail(
  delivery: WebhookDelivery,
  row: DeliveryRow,
  called: Called,
  { message, told }: DeliveryFailed,
): Promise<void> {
  const text = failureText(called.webhook, called.triggering, told);
  await withDecision(delivery, called, { content: `Failure! ${message}`, widget: undefined }, (decided) =>
    delivery.background(row.realm_id, async (work) => {
      if (!(await end(work, row))) return;
      await notifyOfWebhook(work, row, called.webhook, text);
      if (!(decided instanceof ChatError)) emit(work, decided);
    }),
  );
}

type Unit = Parameters<Parameters<WebhookDelivery['background']>[1]>[0];

function emit(work: Unit, decided: Decided): void {
  work.expectVersions(decided.expected);
  for (const event of decided.events) work.emit(event);
  for (const row of decided.numbered(decided.events.length - 1)) work.numbered(row);
}

/**
 * Commits a message of the bot, or its refusal. Outdated data never leads to a refusal, and is decided again with current
 * data if the commit finds it outdated. Throws if the realm is deactivated, because that refuses nothing for good, and if the
 * bot has another owner.
 */
async function withDecision(
  delivery: WebhookDelivery,
  { webhook, bot, meta, triggering: { message } }: Called,
  { content, widget }: Reply,
  commit: (decided: Decided | ChatError) => Promise<void>,
): Promise<void> {
  const sendable = { ...placeOf(message), content, read_by_sender: undefined, widget_content: widget };
  const decide = async (attempt: number): Promise<Decided | ChatError> => {
    try {
      const author = attempt > 0 ? await delivery.authors.get(meta, bot.userId, true) : bot;
      // Services of the previous release omit the owner.
      if (author.botOwnerId !== undefined && author.botOwnerId !== webhook.owner_id) throw new OwnerChanged();
      const wanted = { ...sendable, isContested: isContested(attempt) };
      return await delivery.decideSend(author, meta, wanted, attempt > 0);
    } catch (error) {
      if (isRefusal(error) && !isClosed(error)) return error;
      throw error;
    }
  };
  for (let attempt = 0; ; attempt++) {
    try {
      let decided = await decide(attempt);
      // The last attempt does not wait: otherwise the message would be posted to the bot again.
      if (decided instanceof ChatError && attempt + 1 < maxDecisions) {
        await waitForPeopleAndGroups(delivery.database, meta.realmId);
        decided = await decide(Math.max(attempt, 1));
      }
      return await commit(decided);
    } catch (error) {
      if (!(error instanceof VersionsChanged) || attempt + 1 === maxDecisions) throw error;
    }
  }
}

/** The conversation in which the bot replies: where the message is now. */
const placeOf = (message: Triggering['message']) =>
  message.type === 'private'
    ? { type: 'direct' as const, to: message.display_recipient.map(({ id }) => id), topic: undefined }
    : { type: 'channel' as const, to: message.stream_id, topic: message.subject };
