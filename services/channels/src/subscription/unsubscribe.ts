import { badRequest, channelOperations } from '@natter/contracts';
import { hasMetadataAccess } from '@natter/permissions';
import { type Handlers, handle } from '@natter/service-kit';
import { type Decision, deciding, type Service } from '../deciding.ts';
import { insufficientPermission, unknownChannelName } from '../refusals.ts';
import { mayRemove } from './authorization.ts';
import { leave } from './leave.ts';
import { resolvePrincipals } from './principals.ts';
import { enter, subscribe, wantedOf } from './subscribe.ts';

export function unsubscribeHandlers(service: Service): Handlers {
  return [
    handle(channelOperations.unsubscribe, (context, params) =>
      deciding(service, context, 'unsubscribe', params, (decision) => {
        const principals = resolvePrincipals(decision.directory, params.principals, decision.actor, false);
        return unsubscribe(decision, params.subscriptions, principals);
      }),
    ),

    handle(channelOperations.changeSubscriptions, (context, params) =>
      deciding(service, context, 'change-subscriptions', params, async (decision) => {
        if (params.add.length === 0 && params.delete.length === 0)
          throw badRequest('Nothing to do. Specify at least one of "add" or "delete".');
        const own = [decision.actor.userId];
        const { subscribed, already_subscribed } =
          params.add.length === 0
            ? { subscribed: {}, already_subscribed: {} }
            : await subscribe(decision, wantedOf(params.add), own, plain, { refusesAll: true });
        const left = await unsubscribe(decision, params.delete, own);
        return { subscribed, already_subscribed, ...left };
      }),
    ),
  ];
}

const plain = { announce: false, invite_only: false, is_web_public: false, is_default_stream: false } as const;

async function unsubscribe(
  decision: Decision,
  names: readonly string[],
  principals: readonly number[],
): Promise<{ removed: string[]; not_removed: string[] }> {
  const { work, directory, actor } = decision;
  const wanted = new Map(names.map((name) => [name.trim().toLowerCase(), name.trim()]));
  const entered = await enter(decision, [...wanted.keys()]);
  const known = entered.filter(({ channel, subscribers }) =>
    hasMetadataAccess(channel, actor, subscribers.has(actor.userId)),
  );
  for (const [key, name] of wanted)
    if (!known.some(({ channel }) => channel.name.toLowerCase() === key)) throw unknownChannelName(name);
  if (known.some((channel) => !mayRemove(decision, channel, principals))) throw insufficientPermission();
  const leavings = known.map(({ channel, subscribers }) => ({
    channel,
    subscribers,
    gone: principals.filter((id) => subscribers.has(id)),
  }));
  await leave(work, directory, leavings, { by: actor.userId });
  const namesOf = (isGone: boolean): string[] =>
    leavings.filter(({ gone }) => gone.length > 0 === isGone).map(({ channel }) => channel.name);
  return { removed: namesOf(true), not_removed: namesOf(false) };
}
