import { badRequest, channelOperations, isGuest, limits, type ParamsOf, type RealmPolicy } from '@natter/contracts';
import { sql, sqlState, type Work } from '@natter/database';
import { emptyContext, render } from '@natter/markdown';
import {
  type Handlers,
  handle,
  idempotencyOf,
  type Owner,
  type RealmPolicies,
  realmBasis,
  type UserContext,
} from '@natter/service-kit';
import { z } from 'zod';
import { colorOf, toChannel, toSubscription } from './channel-object.ts';
import { defaultPermissions } from './channel-permissions.ts';
import { type ChannelRow, channelColumns, channelRow } from './channel-row.ts';
import { holdPeople, knowers, mayKnow, type Person, to } from './people.ts';
import { resolvePrincipals } from './principals.ts';

type Params = ParamsOf<typeof channelOperations.subscribe>;

export function subscribeHandlers({ unitOfWork }: Owner, policies: RealmPolicies): Handlers {
  return [
    handle(channelOperations.subscribe, async (context, params) => {
      const { actor } = context;
      if (isGuest(actor)) throw badRequest('Not allowed for guest users');
      const policy = await policies.get(context.meta, context.attempt > 0);
      const wanted = distinctNames(params.subscriptions);
      const options = {
        realmId: actor.realmId,
        schema: 'channels',
        idempotency: idempotencyOf(context, 'subscribe', params),
      };
      return unitOfWork(options, async (work) => {
        work.restOn({ ...actor.basis, ...realmBasis(policy) });
        const people = await holdPeople(work, 'shared');
        const principals = resolvePrincipals(people, params.principals, actor);
        const answer = {
          subscribed: {} as Record<string, string[]>,
          already_subscribed: {} as Record<string, string[]>,
        };
        const unauthorized: string[] = [];
        for (const { name, description } of wanted) {
          const existing = await lockByName(work, name);
          const channel = existing ?? (await create(work, context, name, description, params, policy));
          const subscribers = existing ? await subscribersOf(work, channel.id) : new Set<number>();
          const isMember = subscribers.has(actor.userId);
          if (existing?.is_private && !isMember) {
            unauthorized.push(name);
            continue;
          }
          if (!existing) announceCreation(work, people, channel, principals);
          await join(work, people, channel, subscribers, principals, !existing, answer);
        }
        if (unauthorized.length > 0 && params.authorization_errors_fatal)
          throw badRequest(`Unable to access channel (${unauthorized.join(', ')}).`);
        return params.authorization_errors_fatal ? answer : { ...answer, unauthorized };
      });
    }),
  ];
}

function distinctNames(subscriptions: Params['subscriptions']): { name: string; description: string }[] {
  const byName = new Map<string, { name: string; description: string }>();
  for (const { name, description } of subscriptions) {
    const stripped = name.trim();
    if (stripped === '') throw badRequest("Channel name can't be empty.");
    if (stripped.length > limits.channelNameLength)
      throw badRequest(`Channel name too long (limit: ${limits.channelNameLength} characters).`);
    if (/[\p{Cc}\p{Cn}\p{Cs}]/u.test(stripped)) throw badRequest('Invalid character in channel name.');
    byName.set(stripped.toLowerCase(), { name: stripped, description: (description ?? '').replaceAll('\n', ' ') });
  }
  // One order for all, so that two requests that lock the same channels cannot deadlock.
  return [...byName.entries()].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, value]) => value);
}

const lockByName = (work: Work, name: string): Promise<ChannelRow | undefined> =>
  work.maybeOne(sql.type(channelRow)`
    SELECT ${channelColumns} FROM channels.channel c WHERE c.realm_id = ${work.realmId} AND lower(c.name) = lower(${name}) AND NOT c.is_archived FOR UPDATE`);

async function create(
  work: Work,
  { actor }: UserContext,
  name: string,
  description: string,
  params: Params,
  policy: RealmPolicy,
): Promise<ChannelRow> {
  const historyPublic = !params.invite_only || (params.history_public_to_subscribers ?? false);
  return work
    .one(sql.type(channelRow)`
    INSERT INTO channels.channel AS c (realm_id, name, description, rendered_description, creator_id, is_private, history_public, permissions)
    VALUES (${work.realmId}, ${name}, ${description}, ${render(description, emptyContext).html}, ${actor.userId}, ${params.invite_only}, ${historyPublic}, ${JSON.stringify(defaultPermissions(policy.system_groups, actor.userId))})
    RETURNING ${channelColumns}`)
    .catch((error: unknown) => {
      // Somebody created it while we looked: the unit runs again and joins it.
      if (sqlState(error) === '23505')
        throw Object.assign(new Error('channel name taken meanwhile'), { code: '40001' });
      throw error;
    });
}

function announceCreation(
  work: Work,
  people: readonly Person[],
  channel: ChannelRow,
  principals: readonly number[],
): void {
  work.emit({
    type: 'stream',
    op: 'create',
    body: { streams: [toChannel(channel)] },
    audience: to(knowers(people, channel.is_private, new Set(principals))),
  });
}

export async function subscribersOf(work: Work, channelId: number): Promise<Set<number>> {
  const rows = await work.any(
    sql.type(
      z.object({ user_id: z.number() }),
    )`SELECT user_id FROM channels.subscription WHERE channel_id = ${channelId} AND is_active`,
  );
  return new Set(rows.map((row) => row.user_id));
}

async function join(
  work: Work,
  people: readonly Person[],
  channel: ChannelRow,
  subscribers: ReadonlySet<number>,
  principals: readonly number[],
  isNew: boolean,
  answer: { subscribed: Record<string, string[]>; already_subscribed: Record<string, string[]> },
): Promise<void> {
  const added = principals.filter((id) => !subscribers.has(id));
  for (const id of principals) {
    const kind = subscribers.has(id) ? answer.already_subscribed : answer.subscribed;
    kind[String(id)] = [...(kind[String(id)] ?? []), channel.name];
  }
  if (added.length === 0) return;
  await work.run(sql.unsafe`
    INSERT INTO channels.subscription (realm_id, channel_id, user_id, color)
    SELECT ${work.realmId}, ${channel.id}, id, ${colorOf(channel.id)} FROM unnest(${sql.array(added, 'int4')}) id
    ON CONFLICT (channel_id, user_id) DO UPDATE SET is_active = true`);
  work.bump(`channel:${channel.id}`);
  const after = new Set([...subscribers, ...added]);
  if (!isNew) {
    const byId = new Map(people.map((person) => [person.user_id, person]));
    const newcomers = added.filter((id) => {
      const person = byId.get(id);
      return person !== undefined && !mayKnow(person, channel.is_private, false);
    });
    if (newcomers.length > 0)
      work.emit({ type: 'stream', op: 'create', body: { streams: [toChannel(channel)] }, audience: to(newcomers) });
  }
  const subscription = toSubscription(
    channel,
    { color: colorOf(channel.id), is_muted: false, pin_to_top: false },
    [...after].sort((a, b) => a - b),
  );
  work.emit({ type: 'subscription', op: 'add', body: { subscriptions: [subscription] }, audience: to(added) });
  const others = knowers(people, channel.is_private, after).filter((id) => added.length > 1 || id !== added[0]);
  if (others.length > 0)
    work.emit({
      type: 'subscription',
      op: 'peer_add',
      body: { stream_ids: [channel.id], user_ids: added },
      audience: to(others.filter((id) => !added.includes(id))),
    });
}
