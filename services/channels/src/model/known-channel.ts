import type { Actor } from '@natter/contracts';
import { type Executor, sql } from '@natter/database';
import { hasMetadataAccess, mayAdminister } from '@natter/permissions';
import { z } from 'zod';
import type { Entered } from './authorization.ts';
import { subscribersOf } from './channel-events.ts';
import { type ChannelRow, channelColumns, channelRow } from './channel-row.ts';
import type { Decision } from './deciding.ts';
import { cannotAdminister, invalidChannelId } from './refusals.ts';

const knownRow = channelRow.extend({ is_subscribed: z.boolean(), email_secret: z.string() });
export type KnownChannel = z.infer<typeof knownRow>;

/** A channel that the actor can see, archived or not; an invisible channel is refused like one that does not exist. */
export async function knownChannel(executor: Executor, actor: Actor, channelId: number): Promise<KnownChannel> {
  const row = await executor.maybeOne(sql.type(knownRow)`
    SELECT ${channelColumns}, c.email_secret, coalesce(s.is_active, false) AS is_subscribed FROM channels.channel c
    LEFT JOIN channels.subscription s ON s.channel_id = c.id AND s.user_id = ${actor.userId}
    WHERE c.realm_id = ${actor.realmId} AND c.id = ${channelId}`);
  if (!row || !hasMetadataAccess(row, actor, row.is_subscribed)) throw invalidChannelId();
  return row;
}

/** Locks a channel that the actor administers. */
export async function administeredChannel({ work, actor }: Decision, channelId: number): Promise<Entered> {
  const channel = await work.maybeOne(sql.type(channelRow)`
    SELECT ${channelColumns} FROM channels.channel c WHERE c.realm_id = ${work.realmId} AND c.id = ${channelId} FOR UPDATE`);
  if (!channel) throw invalidChannelId();
  const subscribers = (await subscribersOf(work, [channel.id])).get(channel.id) ?? new Set<number>();
  const isSubscribed = subscribers.has(actor.userId);
  if (!hasMetadataAccess(channel, actor, isSubscribed)) throw invalidChannelId();
  requireAdministered(channel, actor, isSubscribed);
  return { channel, subscribers };
}

export function requireAdministered(channel: ChannelRow, actor: Actor, isSubscribed: boolean): void {
  if (!mayAdminister(channel, actor, isSubscribed)) throw cannotAdminister();
}
