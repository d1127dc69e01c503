import {
  type Actor,
  type Audience,
  badRequest,
  idSet,
  isGuest,
  nominalEmail,
  type RequestMeta,
  userOperations,
} from '@natter/contracts';
import type { Database } from '@natter/database';
import { createRealmPolicies, createUserVisibility, limitsGuests } from '@natter/realm-policy';
import type { Bus } from '@natter/service-kit';
import { everybody, type Person } from './people.ts';

/** Presence by user ID, or by address for older clients. */
export type Format = 'modern' | 'legacy';

/** Limits which users a viewer sees in presence, and by which address. */
export interface View {
  /** Users whose presence is not shown. */
  omitted: ReadonlySet<number>;
  /** The address that is shown; the real one only of users whom the viewer may see. */
  emailOf(person: Pick<Person, 'user_id' | 'email'>): string;
}

/** The receivers of an event about a user, each group with the address that it may see. */
export interface Receivers {
  audience: Audience;
  email: string;
}

export interface Views {
  ofActor(actor: Actor, meta: RequestMeta, format: Format): Promise<View>;
  ofUser(userId: number, meta: RequestMeta, format: Format): Promise<View>;
  /** A user whom the actor may not see is answered like one who does not exist. */
  requireKnown(actor: Actor, meta: RequestMeta, userId: number): Promise<void>;
  receivers(userId: number, email: string, meta: RequestMeta): Promise<Receivers[]>;
}

export const noSuchUser = () => badRequest('No such user');

const nobody: ReadonlySet<number> = new Set();
const everything: View = { omitted: nobody, emailOf: ({ email }) => email };

/**
 * Guests of realms that limit them never get the real address of a user whom they may not see. `isLimited`: nor the
 * presence of such a user.
 */
export function createViews(bus: Bus, database: Database, isLimited: boolean): Views {
  const policies = createRealmPolicies(bus);
  const userVisibility = createUserVisibility(bus);

  async function ofActor(actor: Actor, meta: RequestMeta, format: Format): Promise<View> {
    const needsVisibility = isLimited || format === 'legacy';
    if (!needsVisibility || !isGuest(actor)) return everything;
    const policy = await policies.get(meta, true);
    const hidden = await userVisibility.hiddenFrom(actor, meta, policy);
    return {
      omitted: isLimited ? hidden : nobody,
      emailOf: ({ user_id, email }) => (hidden.has(user_id) ? nominalEmail(user_id, policy.host) : email),
    };
  }

  return {
    ofActor,

    async ofUser(userId, meta, format) {
      const needsVisibility = isLimited || format === 'legacy';
      if (!needsVisibility || !limitsGuests(await policies.get(meta, true))) return everything;
      return ofActor(await bus.call(userOperations.describeActor, { user_id: userId }, { meta }), meta, format);
    },

    async requireKnown(actor, meta, userId) {
      if (!isGuest(actor)) return;
      await userVisibility.decideFor(actor, meta, await policies.get(meta, true), async (hidden) => {
        if (hidden.has(userId)) throw noSuchUser();
      });
    },

    async receivers(userId, email, meta) {
      const policy = await policies.get(meta, true);
      const guests = await userVisibility.guestsNotSeeing(userId, meta, policy);
      if (guests.size === 0) return [{ audience: 'realm', email }];
      const others = (await everybody(database, meta.realmId)).filter((id) => !guests.has(id));
      const seeing = { audience: { users: idSet(others) }, email };
      if (isLimited) return [seeing];
      return [seeing, { audience: { users: idSet(guests) }, email: nominalEmail(userId, policy.host) }];
    },
  };
}
