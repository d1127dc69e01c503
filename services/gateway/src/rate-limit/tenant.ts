import type { Actor, RequestMeta } from '@natter/contracts';
import { ownerWithoutAccount } from '@natter/service-kit';

/** For whom a request is: a person of a realm with their bots, or a group of networks that send requests without an account. */
export interface Tenant {
  /** Below 0 without an account. */
  realmId: number;
  /** Below 0 without an account. */
  userId: number;
}

/** A bot uses what its owner may use, because one person may own many bots. */
export const personOf = ({ userId, botOwnerId }: Actor): number => botOwnerId ?? userId;

export const tenantOf = ({ meta, actor }: { meta: RequestMeta; actor: Actor | undefined }): Tenant =>
  actor ? { realmId: actor.realmId, userId: personOf(actor) } : ownerWithoutAccount(meta.network ?? '');
