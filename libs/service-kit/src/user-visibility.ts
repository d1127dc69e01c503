import {
  type Actor,
  idsOf,
  isGuest,
  type RealmPolicy,
  type RequestMeta,
  userVisibilityOperations,
} from '@natter/contracts';
import type { Bus } from './bus.ts';

/** Whether the realm limits which users its guests can see. */
export const limitsGuests = ({ permissions, system_groups }: RealmPolicy): boolean =>
  permissions.can_access_all_users_group !== system_groups['role:everyone'];

export interface UserVisibility {
  /** Users that the viewer may not see. Empty except for guests of realms that limit them. */
  hiddenFrom(
    viewer: Pick<Actor, 'userId' | 'role'>,
    meta: RequestMeta,
    policy: RealmPolicy,
  ): Promise<ReadonlySet<number>>;
  /** The guests who may not see this user. */
  guestsNotSeeing(userId: number, meta: RequestMeta, policy: RealmPolicy): Promise<ReadonlySet<number>>;
}

const nobody: ReadonlySet<number> = new Set();

/** Queries the users service, but only in realms that limit guests. */
export const createUserVisibility = (bus: Bus): UserVisibility => ({
  async hiddenFrom({ userId, role }, meta, policy) {
    if (!isGuest({ role }) || !limitsGuests(policy)) return nobody;
    const { hidden } = await bus.call(userVisibilityOperations.getSight, { user_id: userId }, { meta });
    return new Set(idsOf(hidden));
  },
  async guestsNotSeeing(userId, meta, policy) {
    if (!limitsGuests(policy)) return nobody;
    const { hidden_from } = await bus.call(userVisibilityOperations.getSight, { user_id: userId }, { meta });
    return new Set(idsOf(hidden_from));
  },
});
