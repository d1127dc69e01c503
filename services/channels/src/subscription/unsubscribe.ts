import { badRequest, channelOperations } from '@natter/contracts';
import { sql, type Work } from '@natter/database';
import { hasMetadataAccess } from '@natter/permissions';
import { type Handlers, handle } from '@natter/service-kit';
import { subscribersOf } from '../channel-events.ts';
import { channelColumns, channelRow } from '../channel-row.ts';
import { type Decision, deciding, type Service } from '../deciding.ts';
import { insufficientPermission, unknownChannelName } from '../refusals.ts';
import { type Entered, mayRemove } from './authorization.ts';
import { type Leaving, leave } from './leave.ts';
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
  const isKnown = ({ channel, subscribers }: Entered): boolean =>
    hasMetadataAccess(channel, actor, subscribers.has(actor.userId));
  const known = (await enter(decision, [...wanted.keys()])).filter(isKnown);
  const missing = namesOutside(wanted, known);
  if (missing.size > 0) {
    const archived = (await enterArchived(work, [...missing.keys()])).filter(isKnown);
    known.push(...oneOfEachName(archived, principals));
  }
  for (const name of namesOutside(missing, known).values()) throw unknownChannelName(name);
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

const keyOf = ({ channel }: Entered): string => channel.name.toLowerCase();

const namesOutside = (wanted: ReadonlyMap<string, string>, known: readonly Entered[]): Map<string, string> =>
  new Map([...wanted].filter(([key]) => !known.some((entered) => keyOf(entered) === key)));

/** Locks archived channels by name: they can be left too (level 362). Several may have had one name. */
async function enterArchived(work: Work, names: readonly string[]): Promise<Entered[]> {
  const channels = await work.any(sql.type(channelRow)`
    SELECT ${channelColumns} FROM channels.channel c
    WHERE c.realm_id = ${work.realmId} AND lower(c.name) = ANY(ARRAY(SELECT lower(n) FROM unnest(${sql.array([...names], 'text')}) n)) AND c.is_archived
    ORDER BY c.id FOR UPDATE`);
  const subscribers = await subscribersOf(
    work,
    channels.map(({ id }) => id),
  );
  return channels.map((channel) => ({ channel, subscribers: subscribers.get(channel.id) ?? new Set<number>() }));
}

/** Of channels that had one name the latest in which there is somebody who is to leave, or else the latest. */
function oneOfEachName(archived: readonly Entered[], principals: readonly number[]): Entered[] {
  const isLeft = ({ subscribers }: Entered): boolean => principals.some((id) => subscribers.has(id));
  const inOrder = [...archived.filter((one) => !isLeft(one)), ...archived.filter(isLeft)];
  return [...new Map(inOrder.map((one) => [keyOf(one), one])).values()];
}
