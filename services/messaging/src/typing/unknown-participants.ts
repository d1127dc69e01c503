import {
  type Actor,
  type IdSet,
  idSet,
  type RealmPolicy,
  type RequestMeta,
  roles,
  unknownUser,
} from '@natter/contracts';
import type { Database } from '@natter/database';
import { limitsGuests, type UserVisibility } from '@natter/realm-policy';
import { isConversation } from '../model/named-people.ts';
import type { Person } from '../model/people.ts';
import { guestsAmong } from '../model/roles.ts';

/**
 * The visibility of the participants is looked up for so many guests of one conversation, each over the whole realm. Others
 * are not notified.
 */
const maxGuests = 3;

type Participant = Pick<Person, 'user_id' | 'email'>;

export interface ForGuests {
  /** Guests who are not notified. */
  skipped: ReadonlySet<number>;
  /** For each guest who may not see some participants: all participants, those with the placeholder of their address. */
  variants: { audience: { users: IdSet }; patch: { sender: Participant; recipients: Participant[] } }[];
}

/**
 * The guests who do not know all participants of a direct conversation. Users who have written to each other do, so this
 * concerns only conversations without a message, in realms that limit guests.
 */
export async function unknownParticipants(
  { database, userVisibility }: { database: Database; userVisibility: UserVisibility },
  { actor, meta, policy }: { actor: Actor; meta: RequestMeta; policy: RealmPolicy },
  people: readonly Person[],
): Promise<ForGuests> {
  const ids = people.map(({ user_id }) => user_id);
  if (!limitsGuests(policy) || (await isConversation(database, actor.realmId, people)))
    return { skipped: new Set(), variants: [] };
  const others = people.filter((one) => one.is_active && one.user_id !== actor.userId);
  const found = await guestsAmong(
    database,
    actor.realmId,
    others.map(({ user_id }) => user_id),
  );
  const guests = [...found];
  const asked = guests.slice(0, maxGuests);
  const variants = await Promise.all(
    asked.map(async (userId) => {
      const hidden = await userVisibility.hiddenFrom({ userId, role: roles.guest }, meta, policy);
      if (!ids.some((id) => hidden.has(id))) return [];
      const shown = ({ user_id, email }: Participant): Participant => ({
        user_id,
        email: hidden.has(user_id) ? unknownUser(user_id, policy.host).email : email,
      });
      const recipients = people.map(shown);
      const sender = recipients.find(({ user_id }) => user_id === actor.userId);
      return sender ? [{ audience: { users: idSet([userId]) }, patch: { sender, recipients } }] : [];
    }),
  );
  return { skipped: new Set(guests.slice(maxGuests)), variants: variants.flat() };
}
