import { badRequest, ChatError, channelOperations, isGuest, limits } from '@natter/contracts';
import { type Handlers, handle } from '@natter/service-kit';
import { announceChannels, type Configuration, createChannels, type NewChannel } from '../channel/create.ts';
import { checkedChannelName, checkedDescription } from '../channel/names.ts';
import { type HtmlOf, renderedDescriptions } from '../channel/rendered-descriptions.ts';
import { type Decision, deciding, type Service } from '../deciding.ts';
import { insufficientPermission, unableToAccess } from '../refusals.ts';
import { type Entered, mayAdd, mayAddOthers } from './authorization.ts';
import { colorForm } from './colors.ts';
import { enter } from './enter.ts';
import { join } from './join.ts';
import { requireFewSubscriptions, resolvePrincipals } from './principals.ts';

interface Wanted extends NewChannel {
  color: string | undefined;
}

interface Asked {
  name: string;
  description?: string | undefined;
  color?: string | undefined;
}

interface Answer {
  subscribed: Record<string, string[]>;
  already_subscribed: Record<string, string[]>;
  unauthorized: string[];
  messagesSent: boolean;
}

export function subscribeHandlers(service: Service): Handlers {
  return [
    handle(channelOperations.subscribe, async (context, params) => {
      const htmlOf = await renderedDescriptions(service, context.actor, descriptionsOf(params.subscriptions));
      return deciding(service, context, async (decision) => {
        if (isGuest(decision.actor)) throw badRequest('Not allowed for guest users');
        const principals = resolvePrincipals(decision.directory, params.principals, decision.actor, true);
        const answer = await subscribe(decision, wantedOf(params.subscriptions, htmlOf), principals, params, {
          refusesAll: params.authorization_errors_fatal,
        });
        return {
          subscribed: answer.subscribed,
          already_subscribed: answer.already_subscribed,
          ...(params.authorization_errors_fatal ? {} : { unauthorized: answer.unauthorized }),
          ...sentOrNot(params, answer),
        };
      });
    }),

    handle(channelOperations.createChannel, async (context, params) => {
      const htmlOf = await renderedDescriptions(service, context.actor, [params.description]);
      return deciding(service, context, async (decision) => {
        if (isGuest(decision.actor)) throw badRequest('Not allowed for guest users');
        const name = checkedChannelName(params.name);
        const description = checkedDescription(params.description);
        const [taken] = await enter(decision.work, [name]);
        if (taken)
          throw new ChatError('CHANNEL_ALREADY_EXISTS', `Channel '${name}' already exists`, { channel_name: name });
        const principals =
          params.subscribers.length === 0
            ? []
            : resolvePrincipals(decision.directory, params.subscribers, decision.actor, true);
        const wanted = [{ name, description, html: htmlOf(description), color: undefined }];
        const answer = await subscribe(decision, wanted, principals, params, { refusesAll: true });
        const [created] = await enter(decision.work, [name]);
        if (!created) throw new Error('A channel vanished while it was created');
        return { id: created.channel.id, ...sentOrNot(params, answer) };
      });
    }),
  ];
}

const sentOrNot = (
  { send_new_subscription_messages }: Configuration,
  { messagesSent }: Answer,
): { new_subscription_messages_sent?: boolean } =>
  send_new_subscription_messages === undefined ? {} : { new_subscription_messages_sent: messagesSent };

/** Texts to render before `wantedOf` asks for them. */
export const descriptionsOf = (subscriptions: readonly Asked[]): string[] =>
  subscriptions.map(({ description }) => description ?? '');

/** A name stands once, whatever its case. */
export function wantedOf(subscriptions: readonly Asked[], htmlOf: HtmlOf): Wanted[] {
  const wanted = new Map<string, Wanted>();
  for (const { name, description, color } of subscriptions) {
    const checked = checkedChannelName(name);
    if (color !== undefined && !colorForm.test(color)) throw badRequest('color is not a valid hex color code');
    const text = checkedDescription(description ?? '');
    wanted.set(checked.toLowerCase(), { name: checked, description: text, html: htmlOf(text), color });
  }
  return [...wanted.values()];
}

/** Subscribes people to channels by name and creates those that there are not. All or nothing, if `refusesAll`. */
export async function subscribe(
  decision: Decision,
  wanted: readonly Wanted[],
  principals: readonly number[],
  configuration: Configuration,
  { refusesAll }: { refusesAll: boolean },
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
  const refused = existing.filter((entered) => !allowed.includes(entered));
  if (refusesAll && refused.length > 0) {
    const hidden = refused.filter((entered) => mayAdd(decision, entered, principals) === 'no access');
    throw hidden.length > 0 ? unableToAccess(hidden.map(({ channel }) => channel.name)) : insufficientPermission();
  }
  const created = await createChannels(
    decision,
    // In one order for all: two requests that create the same channels wait for each other only once.
    wanted
      .filter(({ name }) => !known.has(name))
      .sort((a, b) => (a.name.toLowerCase() < b.name.toLowerCase() ? -1 : 1)),
    configuration,
  );
  const others = principals.filter((id) => id !== actor.userId);
  if (others.length > 0 && created.some((channel) => !mayAddOthers(decision, channel, true)))
    throw insufficientPermission();
  await announceChannels(
    decision,
    created.map((channel) => ({ channel, willSubscribe: principals })),
    configuration,
  );
  const isNew = true;
  const fresh = created.map((channel) => ({ channel, asked: [channel.name], subscribers: new Set<number>(), isNew }));
  const entered = [...allowed, ...fresh];
  const joinings = entered.map((one) => {
    const { asked, subscribers } = one;
    return {
      ...one,
      added: principals.filter((id) => !subscribers.has(id)),
      color: wanted.find(({ name }) => asked.includes(name))?.color,
    };
  });
  const count = joinings.reduce((sum, { added }) => sum + added.length, 0);
  const messagesSent =
    (configuration.send_new_subscription_messages ?? true) && count <= limits.bulkNewSubscriptionMessages;
  const notify = messagesSent ? others.filter((id) => !directory.people.get(id)?.isBot) : [];
  await join(work, directory, joinings, { by: actor.userId, notify });
  return {
    ...namesByUser(joinings, principals),
    unauthorized: refused.map(({ channel }) => channel.name),
    messagesSent,
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
