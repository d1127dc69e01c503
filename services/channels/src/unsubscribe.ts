import { badRequest, ChatError, channelOperations, isAdministrator } from '@natter/contracts';
import { sql, type Work } from '@natter/database';
import { type Handlers, handle, idempotencyOf, type Owner } from '@natter/service-kit';
import { type ChannelRow, channelColumns, channelRow } from './channel-row.ts';
import { channelsGone, holdPeople, knowers, mayKnow, type Person, to } from './people.ts';
import { resolvePrincipals } from './principals.ts';
import { subscribersOf } from './subscribe.ts';

export function unsubscribeHandlers({ unitOfWork }: Owner): Handlers {
  return [
    handle(channelOperations.unsubscribe, async (context, params) => {
      const { actor } = context;
      const options = {
        realmId: actor.realmId,
        schema: 'channels',
        idempotency: idempotencyOf(context, 'unsubscribe', params),
      };
      const names = [...new Set(params.subscriptions.map((name) => name.trim()))].sort();
      return unitOfWork(options, async (work) => {
        work.restOn(actor.basis);
        const people = await holdPeople(work, 'shared');
        const principals = resolvePrincipals(people, params.principals, actor);
        if (principals.some((id) => id !== actor.userId) && !isAdministrator(actor))
          throw badRequest('Insufficient permission');
        const removed: string[] = [];
        const not_removed: string[] = [];
        for (const name of names) {
          const channel = await work.maybeOne(sql.type(channelRow)`
            SELECT ${channelColumns} FROM channels.channel c WHERE c.realm_id = ${work.realmId} AND lower(c.name) = lower(${name}) AND NOT c.is_archived FOR UPDATE`);
          const subscribers = channel ? await subscribersOf(work, channel.id) : new Set<number>();
          const known =
            channel &&
            mayKnow(
              { user_id: actor.userId, email: actor.email, role: actor.role, is_active: true },
              channel.is_private,
              subscribers.has(actor.userId),
            );
          if (!channel || !known)
            throw new ChatError('STREAM_DOES_NOT_EXIST', `Channel '${name}' does not exist`, { stream: name });
          const leaving = principals.filter((id) => subscribers.has(id));
          (leaving.length > 0 ? removed : not_removed).push(channel.name);
          if (leaving.length > 0) await leave(work, people, channel, subscribers, leaving);
        }
        return { removed, not_removed };
      });
    }),
  ];
}

async function leave(
  work: Work,
  people: readonly Person[],
  channel: ChannelRow,
  before: ReadonlySet<number>,
  leaving: number[],
): Promise<void> {
  await work.run(sql.unsafe`
    UPDATE channels.subscription SET is_active = false WHERE channel_id = ${channel.id} AND user_id = ANY(${sql.array(leaving, 'int4')})`);
  work.bump(`channel:${channel.id}`);
  const left = new Set(leaving);
  const after = new Set([...before].filter((id) => !left.has(id)));
  work.emit({
    type: 'subscription',
    op: 'remove',
    body: { subscriptions: [{ stream_id: channel.id, name: channel.name }] },
    audience: to(leaving),
  });
  const others = knowers(people, channel.is_private, after).filter((id) => !left.has(id));
  work.emit({
    type: 'subscription',
    op: 'peer_remove',
    body: { stream_ids: [channel.id], user_ids: leaving },
    audience: to(others),
  });
  const losing = people.filter((person) => left.has(person.user_id) && !mayKnow(person, channel.is_private, false));
  if (losing.length > 0)
    work.emit(
      channelsGone(
        [channel.id],
        losing.map((person) => person.user_id),
      ),
    );
}
