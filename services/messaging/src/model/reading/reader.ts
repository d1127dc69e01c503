import type { Actor, RequestMeta } from '@natter/contracts';
import type { Executor } from '@natter/database';
import type { Owner, RealmPolicies, Sight } from '@natter/service-kit';
import type { ChannelReach } from '../channel-reach.ts';
import type { MessageReach } from '../message-reach.ts';
import { type ChannelCopy, channelCopies } from './channel-copy.ts';

export interface Reading {
  reach: ChannelReach;
  messages: MessageReach;
  policies: RealmPolicies;
  sight: Sight;
}

/** A reader with one consistent view of the tables. */
export async function readerOf(
  { database }: Owner,
  { reach, sight, policies }: Pick<Reading, 'reach' | 'sight' | 'policies'>,
  actor: Actor | undefined,
  meta: RequestMeta,
): Promise<Reader> {
  return {
    executor: database,
    meta,
    actor,
    reach,
    hidden: async () => (actor ? sight.hiddenFrom(actor, meta, await policies.get(meta, false)) : new Set()),
    channels: await channelCopies(database, meta.realmId, actor?.userId),
  };
}

export interface Reader {
  executor: Executor;
  meta: RequestMeta;
  /** Absent: without authentication, only web-public channels can be read. */
  actor: Actor | undefined;
  reach: ChannelReach;
  /** Users whom the reader may not see. */
  hidden: () => Promise<ReadonlySet<number>>;
  channels: readonly ChannelCopy[];
}
