import type { Actor, RequestMeta } from '@natter/contracts';
import { type Tenant as ServiceTenant, tenantWithoutAccount } from '@natter/service-kit';

export interface Tenant extends ServiceTenant {
  /** The realm to whose host a request without an account was sent. The realm counts as active because of the request. */
  hostRealmId?: number;
}

/** The user whose limits apply. For a bot it is the owner, because one user may own many bots. */
export const personOf = ({ userId, botOwnerId }: Actor): number => botOwnerId ?? userId;

export const tenantOf = ({ meta, actor }: { meta: RequestMeta; actor: Actor | undefined }): Tenant =>
  actor
    ? { realmId: actor.realmId, userId: personOf(actor) }
    : { ...tenantWithoutAccount(meta.network ?? ''), hostRealmId: meta.realmId };
