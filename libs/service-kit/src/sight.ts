import { type Actor, idsOf, isGuest, type RealmPolicy, type RequestMeta, sightOperations } from '@natter/contracts';
import type { Bus } from './bus.ts';

/** Whether the realm lets its guests see few people only. */
export const limitsGuests = ({ permissions, system_groups }: RealmPolicy): boolean =>
  permissions.can_access_all_users_group !== system_groups['role:everyone'];

export interface Sight {
  /** Whom somebody may not know of: nobody, but for guests of realms that limit them. */
  hiddenFrom(
    viewer: Pick<Actor, 'userId' | 'role'>,
    meta: RequestMeta,
    policy: RealmPolicy,
  ): Promise<ReadonlySet<number>>;
  /** Guests who may not know of somebody. */
  blindTo(userId: number, meta: RequestMeta, policy: RealmPolicy): Promise<ReadonlySet<number>>;
}

const nobody: ReadonlySet<number> = new Set();

/** Asks the users service, and only where there is anything to ask. */
export const createSight = (bus: Bus): Sight => ({
  async hiddenFrom({ userId, role }, meta, policy) {
    if (!isGuest({ role }) || !limitsGuests(policy)) return nobody;
    const { hidden } = await bus.call(sightOperations.getSight, { user_id: userId }, { meta });
    return new Set(idsOf(hidden));
  },
  async blindTo(userId, meta, policy) {
    if (!limitsGuests(policy)) return nobody;
    const { hidden_from } = await bus.call(sightOperations.getSight, { user_id: userId }, { meta });
    return new Set(idsOf(hidden_from));
  },
});
