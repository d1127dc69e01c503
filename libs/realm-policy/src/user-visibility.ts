import {
  type Actor,
  idsOf,
  isGuest,
  isRefusal,
  type RealmPolicy,
  type RequestMeta,
  userVisibilityOperations,
} from '@natter/contracts';
import type { Bus } from '@natter/service-kit';

/** Whether the realm limits which users its guests can see. */
export const limitsGuests = ({ permissions, system_groups }: RealmPolicy): boolean =>
  permissions.can_access_all_users_group !== system_groups['role:everyone'];

type Viewer = Pick<Actor, 'userId' | 'role'>;

export interface UserVisibility {
  /**
   * Users that the viewer may not see. Empty except for guests of realms that limit them. Possibly outdated: what is refused
   * because of it is decided with `decideFor`.
   */
  hiddenFrom(viewer: Viewer, meta: RequestMeta, policy: RealmPolicy): Promise<ReadonlySet<number>>;
  /** Decides with these users. If it refuses, and they may be outdated, it decides again with current ones. */
  decideFor<R>(
    viewer: Viewer,
    meta: RequestMeta,
    policy: RealmPolicy,
    decide: (hidden: ReadonlySet<number>) => Promise<R>,
  ): Promise<R>;
  /** The guests who may not see this user. */
  guestsNotSeeing(userId: number, meta: RequestMeta, policy: RealmPolicy): Promise<ReadonlySet<number>>;
}

const nobody: ReadonlySet<number> = new Set();

/** Queries the users service, but only in realms that limit guests. */
export function createUserVisibility(bus: Bus): UserVisibility {
  const visibilityOf = (user_id: number, meta: RequestMeta, until_current = false) =>
    bus.call(userVisibilityOperations.getSight, { user_id, until_current }, { meta });
  const isLimited = ({ role }: Viewer, policy: RealmPolicy): boolean => isGuest({ role }) && limitsGuests(policy);
  return {
    async hiddenFrom(viewer, meta, policy) {
      if (!isLimited(viewer, policy)) return nobody;
      return new Set(idsOf((await visibilityOf(viewer.userId, meta)).hidden));
    },
    async decideFor(viewer, meta, policy, decide) {
      if (!isLimited(viewer, policy)) return decide(nobody);
      const { hidden, is_current = true } = await visibilityOf(viewer.userId, meta);
      try {
        return await decide(new Set(idsOf(hidden)));
      } catch (error) {
        if (is_current || !isRefusal(error)) throw error;
      }
      return decide(new Set(idsOf((await visibilityOf(viewer.userId, meta, true)).hidden)));
    },
    async guestsNotSeeing(userId, meta, policy) {
      if (!limitsGuests(policy)) return nobody;
      return new Set(idsOf((await visibilityOf(userId, meta)).hidden_from));
    },
  };
}
