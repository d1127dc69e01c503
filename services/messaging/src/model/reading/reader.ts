import type { Actor, RequestMeta } from '@natter/contracts';
import type { Executor } from '@natter/database';
import type { RealmPolicies, UserVisibility } from '@natter/realm-policy';
import type { Owner } from '@natter/service-kit';
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
    decideSeeing: async (decide) =>
      actor ? userVisibility.decideFor(actor, meta, await policies.get(meta, false), decide) : decide(new Set()),
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
  /** Decides with the users whom the reader may not see. */
  decideSeeing: <R>(decide: (hidden: ReadonlySet<number>) => Promise<R>) => Promise<R>;
  /** Reads the channels that the reader may read, once, when they are first needed. */
  readable: () => Promise<Readable>;
}
