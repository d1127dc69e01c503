import { type Actor, idsOf, isGuest, type RealmPolicy, type RequestMeta, sightOperations } from '@natter/contracts';
import type { Bus } from './bus.ts';

/** Whether the realm limits which users its guests can see. */
export const limitsGuests = ({ permissions, system_groups }: RealmPolicy): boolean =>
  permissions.can_access_all_users_group !== system_groups['role:everyone'];

export interface Sight {
  /** Users that the viewer may not see. Empty except for guests of realms that limit them. */
  hiddenFrom(
    viewer: Pick<Actor, 'userId' | 'role'>,
    meta: RequestMeta,
    policy: RealmPolicy,
  ): Promise<ReadonlySet<number>>;
  /** Guests who may not see the user. */
  blindTo(userId: number, meta: RequestMeta, policy: RealmPolicy): Promise<ReadonlySet<number>>;
}

const nobody: ReadonlySet<number> = new Set();

/** Queries the users service, but only in realms that limit guests. */
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
