import { createHash } from 'node:crypto';
import type { Actor, RequestMeta } from '@natter/contracts';

/** For whom a request is: a person of a realm with their bots, or a group of networks that send requests without an account. */
export interface Tenant {
  realmId: number;
  /** Below 0 for networks. */
  userId: number;
}

/** Few, so that an attacker with many networks fills no memory; several, so that one network delays the logins of few others. */
const networkGroups = 256;

/** A bot uses what its owner may use, because one person may own many bots. */
export const personOf = ({ userId, botOwnerId }: Actor): number => botOwnerId ?? userId;

export const tenantOf = ({ meta, actor }: { meta: RequestMeta; actor: Actor | undefined }): Tenant => ({
  realmId: meta.realmId,
  userId: (actor && personOf(actor)) ?? -1 - groupOf(meta.network ?? ''),
});

const groupOf = (network: string): number =>
  createHash('sha256').update(network).digest().readUInt32BE() % networkGroups;
