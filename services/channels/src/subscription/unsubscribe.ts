import { badRequest, channelOperations } from '@natter/contracts';
import { hasMetadataAccess } from '@natter/permissions';
import { type Handlers, handle } from '@natter/service-kit';
import { renderedDescriptions } from '../channel/rendered-descriptions.ts';
import { type Decision, deciding, type Service } from '../deciding.ts';
import { insufficientPermission, unknownChannelName } from '../refusals.ts';
import { type Entered, mayRemove } from './authorization.ts';
import { enter, type Named } from './enter.ts';
import { type Leaving, leave } from './leave.ts';
import { requireFewSubscriptions, resolvePrincipals } from './principals.ts';
import { descriptionsOf, subscribe, wantedOf } from './subscribe.ts';

export function unsubscribeHandlers(service: Service): Handlers {
  return [
    handle(channelOperations.unsubscribe, (context, params) =>
      deciding(service, context, (decision) => {
        const principals = resolvePrincipals(decision.directory, params.principals, decision.actor, false);
        return unsubscribe(decision, params.subscriptions, principals);
      }),
    ),

    handle(channelOperations.changeSubscriptions, async (context, params) => {
      const htmlOf = await renderedDescriptions(service, context.actor, descriptionsOf(params.add));
      return deciding(service, context, async (decision) => {
        if (params.add.length === 0 && params.delete.length === 0)
          throw badRequest('Nothing to do. Specify at least one of "add" or "delete".');
        const own = [decision.actor.userId];
        const { subscribed, already_subscribed } =
          params.add.length === 0
            ? { subscribed: {}, already_subscribed: {} }
            : await subscribe(decision, wantedOf(params.add, htmlOf), own, plain, { refusesAll: true });
        const left = await unsubscribe(decision, params.delete, own);
        return { subscribed, already_subscribed, ...left };
      });
    }),
  ];
}

const plain = { announce: false, invite_only: false, is_web_public: false, is_default_stream: false } as const;

async function unsubscribe(
  decision: Decision,
  names: readonly string[],
  principals: readonly number[],
): Promise<{ removed: string[]; not_removed: string[] }> {
  const { work, directory, actor } = decision;
  const wanted = [...new Map(names.map((name) => [name.trim().toLowerCase(), name.trim()])).values()];
  requireFewSubscriptions(wanted.length, principals.length);
  const isKnown = ({ channel, subscribers }: Entered): boolean =>
    hasMetadataAccess(channel, actor, subscribers.has(actor.userId));
  const known = (await enter(work, wanted)).filter(isKnown);
  // Archived channels can be left too (level 362).
  const archived = (await enter(work, namesOutside(wanted, known), true)).filter(isKnown);
  known.push(...oneOfEachName(archived, principals));
  for (const name of namesOutside(wanted, known)) throw unknownChannelName(name);
  if (known.some((channel) => !mayRemove(decision, channel, principals))) throw insufficientPermission();
  const leavings = known.map(({ channel, subscribers }) => ({
    channel,
    subscribers,
    gone: principals.filter((id) => subscribers.has(id)),
  }));
  await leave(work, directory, leavings, { by: actor.userId });
  const namesOf = (fits: (leaving: Leaving) => boolean): string[] =>
    leavings.filter(fits).map(({ channel }) => channel.name);
  return {
    removed: namesOf(({ gone }) => gone.length > 0),
    // Of several people some may have been subscribed, and others not.
    not_removed: namesOf(({ gone }) => gone.length < principals.length),
  };
}

const namesOutside = (wanted: readonly string[], known: readonly Named[]): string[] =>
  wanted.filter((name) => !known.some(({ asked }) => asked.includes(name)));

/** Of channels that had one name the latest in which there is somebody who is to leave, or else the latest. */
function oneOfEachName(archived: readonly Named[], principals: readonly number[]): Named[] {
  const isLeft = ({ subscribers }: Entered): boolean => principals.some((id) => subscribers.has(id));
  const inOrder = [...archived.filter((one) => !isLeft(one)), ...archived.filter(isLeft)];
  return [...new Map(inOrder.map((one) => [one.asked.join(), one])).values()];
}
