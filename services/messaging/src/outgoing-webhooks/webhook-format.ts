import type { botOperations, MessageObject, ResultOf } from '@natter/contracts';
import { DeliveryFailed } from './delivery-failed.ts';

/** The address, the format and the bot's data for posts to it. */
export type Webhook = NonNullable<ResultOf<typeof botOperations.getOutgoingWebhook>['webhook']>;

/** A message that triggers a bot, as the bot may see it. */
export interface Triggering {
  botId: number;
  realmId: number;
  host: string;
  /** The message, with its Markdown source as `content`. */
  message: MessageObject;
  renderedContent: string;
}

export interface Reply {
  content: string;
  widget: string | undefined;
}

interface Posted {
  contentType: string;
  body: string;
}

const interfaces = { generic: 1, slack: 2 } as const;

/** The request for a message, in the format that the bot was created with. */
export function requestOf(webhook: Webhook, triggering: Triggering): Posted {
  if (webhook.interface !== interfaces.slack)
    return { contentType: 'application/json', body: JSON.stringify(genericFields(webhook, triggering)) };
  const form = new URLSearchParams(slackFields(webhook, triggering));
  return { contentType: 'application/x-www-form-urlencoded', body: form.toString() };
}

function genericFields(webhook: Webhook, { message: { flags: _, ...message }, renderedContent }: Triggering) {
  return {
    bot_email: webhook.email,
    bot_full_name: webhook.full_name,
    data: message.content,
    message: { ...message, rendered_content: renderedContent },
    token: webhook.token,
    trigger: triggerOf(message),
  };
}

function slackFields(webhook: Webhook, { botId, realmId, host, message }: Triggering): Record<string, string> {
  if (message.type === 'private')
    throw new DeliveryFailed({ shown: "Slack outgoing webhooks don't support direct messages." });
  return {
    token: webhook.token,
    team_id: `T${realmId}`,
    team_domain: host,
    channel_id: `C${message.stream_id}`,
    channel_name: message.display_recipient,
    thread_ts: String(message.timestamp),
    timestamp: String(message.timestamp),
    user_id: `U${message.sender_id}`,
    user_name: message.sender_full_name,
    text: message.content,
    trigger_word: triggerOf(message),
    service_id: String(botId),
  };
}

const triggerOf = ({ type }: Pick<MessageObject, 'type'>): string =>
  type === 'private' ? 'direct_message' : 'mention';

/** The reply that a successful response requests, if any. Throws `DeliveryFailed` for a response in another format. */
export function replyOf(webhook: Webhook, text: string): Reply | undefined {
  const response = parsed(text);
  // Some versions of zulip_botserver answer so if they have no reply.
  if (response === '') return undefined;
  if (typeof response !== 'object' || response === null || Array.isArray(response)) throw invalid('format');
  const given = response as Record<string, unknown>;
  if (webhook.interface === interfaces.slack) return replyWith(given.text);
  if (given.response_not_required) return undefined;
  const isGiven = given.response_string !== undefined && given.response_string !== null && given.response_string !== '';
  return replyWith(isGiven ? given.response_string : given.content, given.widget_content);
}

function replyWith(given: unknown, widget?: unknown): Reply | undefined {
  if (given === undefined || given === null) return undefined;
  const content = typeof given === 'number' ? String(given) : given;
  if (typeof content !== 'string') throw invalid('format');
  // Postgres stores neither NUL nor halves of surrogate pairs.
  const storable = content.replaceAll('\0', '').toWellFormed();
  if (storable.trim() === '') return undefined;
  return { content: storable, widget: widget === undefined || widget === null ? undefined : JSON.stringify(widget) };
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw new DeliveryFailed({ shown: 'Invalid JSON in response' });
  }
}

export const invalid = (what: string) => new DeliveryFailed({ shown: `Invalid response ${what}` });
