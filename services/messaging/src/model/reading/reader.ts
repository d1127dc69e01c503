import type { Actor, RequestMeta } from '@natter/contracts';
import type { Executor } from '@natter/database';
import type { Owner, RealmPolicies, UserVisibility } from '@natter/service-kit';
import type { ChannelAccess } from '../channel-access.ts';
import type { MessageAccess } from '../message-access.ts';
import { type Readable, readableBy } from './readable.ts';

export interface Reading {
  access: ChannelAccess;
  messages: MessageAccess;
  policies: RealmPolicies;
  userVisibility: UserVisibility;
}

export function readerOf(
  { database }: Owner,
  { access, userVisibility, policies }: Pick<Reading, 'access' | 'userVisibility' | 'policies'>,
  actor: Actor | undefined,
  meta: RequestMeta,
): Reader {
  let readable: Promise<Readable> | undefined;
  return {
    executor: database,
    meta,
    actor,
    access,
    hidden: async () => (actor ? userVisibility.hiddenFrom(actor, meta, await policies.get(meta, false)) : new Set()),
    readable: () => {
      readable ??= readableBy(database, meta, actor);
      return readable;
    },
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
  /** Read once, when it is first needed. */
  readable: () => Promise<Readable>;
}
