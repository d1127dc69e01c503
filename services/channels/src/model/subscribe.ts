import {
  badRequest,
  checkedChannelName,
  insufficientPermission,
  isGuest,
  limits,
  sendsNewSubscriptionMessages,
} from '@natter/contracts';
import { type Entered, mayAdd } from './authorization.ts';
import { checkedColor } from './colors.ts';
import { announceChannels, type Configuration, createChannels, type NewChannel } from './create-channels.ts';
import type { Decision } from './deciding.ts';
import { checkedDescription } from './descriptions.ts';
import { enter } from './enter.ts';
import { join } from './join.ts';
import { requireFewSubscriptions } from './principals.ts';
import { unableToAccess } from './refusals.ts';
import type { HtmlOf } from './rendered-descriptions.ts';

interface Wanted extends NewChannel {
  color: string | undefined;
}

interface Asked {
  name: string;
  description?: string | undefined;
  color?: string | undefined;
}

export interface Answer {
  subscribed: Record<string, string[]>;
  already_subscribed: Record<string, string[]>;
  unauthorized: string[];
  new_subscription_messages_sent?: boolean;
}

/** Texts to render before `wantedOf` needs them. */
export const descriptionsOf = (subscriptions: readonly Asked[]): string[] =>
  subscriptions.map(({ description }) => description ?? '');

/** The requested channels. If names differ only in case, the first one is used. */
export function wantedOf(subscriptions: readonly Asked[], htmlOf: HtmlOf): Wanted[] {
  const wanted = new Map<string, Wanted>();
  for (const { name, description, color } of subscriptions) {
    const checked = checkedChannelName(name);
    const chosen = color === undefined ? undefined : checkedColor(color);
    const text = checkedDescription(description ?? '');
    if (wanted.has(checked.toLowerCase())) continue;
    wanted.set(checked.toLowerCase(), { name: checked, description: text, html: htmlOf(text), color: chosen });
  }
  return [...wanted.values()];
}

/** Subscribes users to channels by name, and creates missing channels. All or nothing if `refusesAll` is set. */
export async function subscribe(
  decision: Decision,
  wanted: readonly Wanted[],
  principals: readonly number[],
  { configuration, refusesAll }: { configuration: Configuration; refusesAll: boolean },
): Promise<Answer> {
  const { work, directory, actor } = decision;
  if (isGuest(actor)) throw badRequest('Not allowed for guest users');
  requireFewSubscriptions(wanted.length, principals.length);
  const existing = await enter(
    work,
    wanted.map(({ name }) => name),
  );
  const known = new Set(existing.flatMap(({ asked }) => asked));
  const allowed = existing.filter((entered) => mayAdd(decision, entered, principals) === 'allowed');
  const isAllowed = new Set(allowed);
  const refused = existing.filter((entered) => !isAllowed.has(entered));
  if (refusesAll && refused.length > 0) {
    const hidden = refused.filter((entered) => mayAdd(decision, entered, principals) === 'no access');
    throw hidden.length > 0 ? unableToAccess(hidden.map(({ channel }) => channel.name)) : insufficientPermission();
  }
  // The creator may add everybody to a new channel.
  const created = await createChannels(
    decision,
    wanted.filter(({ name }) => !known.has(name)),
    configuration,
  );
  await announceChannels(
    decision,
    created.map((channel) => ({ channel, willSubscribe: principals })),
    configuration,
  );
  const isNew = true;
  const fresh = created.map((channel) => ({ channel, asked: [channel.name], subscribers: new Set<number>(), isNew }));
  const entered = [...allowed, ...fresh];
  const colors = new Map(wanted.map(({ name, color }) => [name, color]));
  const joinings = entered.map((one) => {
    const { asked, subscribers } = one;
    return {
      ...one,
      added: principals.filter((id) => !subscribers.has(id)),
      color: asked.map((name) => colors.get(name)).find((color) => color !== undefined),
    };
  });
  const count = joinings.reduce((sum, { added }) => sum + added.length, 0);
  const { send_new_subscription_messages: mayNotify = sendsNewSubscriptionMessages } = configuration;
  const isFew = count <= limits.bulkNewSubscriptionMessages;
  const notify =
    mayNotify && isFew ? principals.filter((id) => id !== actor.userId && !directory.people.get(id)?.isBot) : [];
  await join(work, directory, joinings, { by: actor.userId, notify });
  return {
    ...namesByUser(joinings, principals),
    unauthorized: refused.map(({ channel }) => channel.name),
    ...(mayNotify ? { new_subscription_messages_sent: isFew } : {}),
  };
}

function namesByUser(
  joinings: readonly (Entered & { added: readonly number[] })[],
  principals: readonly number[],
): Pick<Answer, 'subscribed' | 'already_subscribed'> {
  const answer: Pick<Answer, 'subscribed' | 'already_subscribed'> = { subscribed: {}, already_subscribed: {} };
  for (const { channel, subscribers } of joinings)
    for (const id of principals) {
      const kind = subscribers.has(id) ? answer.already_subscribed : answer.subscribed;
      const names = kind[String(id)];
      if (names) names.push(channel.name);
      else kind[String(id)] = [channel.name];
    }
  return answer;
}
