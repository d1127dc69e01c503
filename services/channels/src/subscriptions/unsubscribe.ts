import { channelOperations, insufficientPermission } from '@natter/contracts';
import { sql } from '@natter/database';
import { hasMetadataAccess } from '@natter/permissions';
import { type Handlers, handleWrite } from '@natter/service-kit';
import { z } from 'zod';
import { type Entered, mayRemove } from '../model/authorization.ts';
import { type Decision, deciding, type Service } from '../model/deciding.ts';
import { enter, type Named } from '../model/enter.ts';
import { decideSeeing, principalsToRemove, requireFewSubscriptions } from '../model/principals.ts';
import { unknownChannelName } from '../model/refusals.ts';
import { leave } from './leave.ts';

export function unsubscribeHandlers(service: Service): Handlers {
  return [
    handleWrite(channelOperations.unsubscribe, async (context, params) => {
      const namesOthers = params.principals !== undefined;
      const decide = (hidden: ReadonlySet<number>) =>
        deciding(service, context, async (decision) => {
          const bots = namesOthers ? await unsubscribedSystemBots(decision) : nobody;
          const unknown = new Set([...hidden, ...bots]);
          const principals = await principalsToRemove(decision, params.principals, unknown);
          return unsubscribe(decision, params.subscriptions, principals);
        });
      return namesOthers ? decideSeeing(service, context, decide) : decide(nobody);
    }),
  ];
}

const nobody: ReadonlySet<number> = new Set();

/** The system bots without subscriptions. Earlier releases subscribed them; such a subscription can still be ended. */
async function unsubscribedSystemBots({ work, directory }: Decision): Promise<ReadonlySet<number>> {
  const rows = await work.any(sql.type(z.object({ id: z.number() }))`
    SELECT id FROM unnest(${sql.array(directory.systemBots(), 'int4')}) id
    WHERE NOT EXISTS (SELECT FROM channels.subscription s WHERE s.realm_id = ${work.realmId} AND s.user_id = id AND s.is_active)`);
  return new Set(rows.map(({ id }) => id));
}

export async function unsubscribe(
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
  // Users can unsubscribe from archived channels too.
  const archived = (await enter(work, namesOutside(wanted, known), true)).filter(isKnown);
  known.push(...oneOfEachName(archived, principals));
  for (const name of namesOutside(wanted, known)) throw unknownChannelName(name);
  if (known.some((channel) => !mayRemove(decision, channel, principals))) throw insufficientPermission();
  const leavings = known.map(({ channel, subscribers }) => ({
    channel,
    subscribers,
    gone: principals.filter((id) => subscribers.has(id)),
  }));
  await leave(work, directory, leavings, actor.userId);
  // The names of the channels, repeated for each user.
  const namesOf = (wasSubscribed: boolean): string[] =>
    principals.flatMap((id) =>
      leavings.filter(({ subscribers }) => subscribers.has(id) === wasSubscribed).map(({ channel }) => channel.name),
    );
  return { removed: namesOf(true), not_removed: namesOf(false) };
}

function namesOutside(wanted: readonly string[], known: readonly Named[]): string[] {
  const names = new Set(known.flatMap(({ asked }) => asked));
  return wanted.filter((name) => !names.has(name));
}

/** One archived channel per name: the latest with one of the users as a subscriber, otherwise the latest. */
function oneOfEachName(archived: readonly Named[], principals: readonly number[]): Named[] {
  const isLeft = ({ subscribers }: Entered): boolean => principals.some((id) => subscribers.has(id));
  const inOrder = [...archived.filter((one) => !isLeft(one)), ...archived.filter(isLeft)];
  return [...new Map(inOrder.map((one) => [one.asked.join(), one])).values()];
}
