import type { Actor, RequestMeta } from '@natter/contracts';
import type { Executor } from '@natter/database';
import type { Owner, RealmPolicies, UserVisibility } from '@natter/service-kit';
import type { ChannelAccess } from '../channel-access.ts';
import type { MessageAccess } from '../message-access.ts';
import { type ChannelCopy, channelCopies } from './channel-copy.ts';

export interface Reading {
  access: ChannelAccess;
  messages: MessageAccess;
  policies: RealmPolicies;
  userVisibility: UserVisibility;
}

/** A reader with one consistent view of the tables. */
export async function readerOf(
  { database }: Owner,
  { access, userVisibility, policies }: Pick<Reading, 'access' | 'userVisibility' | 'policies'>,
  actor: Actor | undefined,
  meta: RequestMeta,
): Promise<Reader> {
  return {
    executor: database,
    meta,
    actor,
    access,
    hidden: async () => (actor ? userVisibility.hiddenFrom(actor, meta, await policies.get(meta, false)) : new Set()),
    channels: await channelCopies(database, meta.realmId, actor?.userId),
  };
}

export interface Reader {
  executor: Executor;
  meta: RequestMeta;
  /** Absent: without authentication, only web-public channels can be read. */
  actor: Actor | undefined;
  access: ChannelAccess;
  /** Users whom the reader may not see. */
  hidden: () => Promise<ReadonlySet<number>>;
  channels: readonly ChannelCopy[];
}
