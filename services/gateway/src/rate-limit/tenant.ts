import type { Actor, RequestMeta } from '@natter/contracts';
import { type Tenant, tenantWithoutAccount } from '@natter/service-kit';

export type { Tenant };

/** A bot uses what its owner may use, because one person may own many bots. */
export const personOf = ({ userId, botOwnerId }: Actor): number => botOwnerId ?? userId;

export const tenantOf = ({ meta, actor }: { meta: RequestMeta; actor: Actor | undefined }): Tenant =>
  actor ? { realmId: actor.realmId, userId: personOf(actor) } : tenantWithoutAccount(meta.network ?? '');
