import { idSet, userVisibilityOperations } from '@natter/contracts';
import type { Consumer } from '@natter/database';
import { createCatchUp, type Handlers, handle, type Owner } from '@natter/service-kit';
import { hiddenPeople, limitsGuests } from '../model/user-visibility.ts';

/** Maximum wait for the projection, the same as for messages of bots. One request may cause several calls. */
const waitMs = 500;

export function userVisibilityHandlers({ database, catchUp: catchUpAll }: Owner, acquaintance: Consumer): Handlers {
  const catchUp = createCatchUp(database, 'users', () => [acquaintance], waitMs);
  return [
    handle(userVisibilityOperations.getSight, async ({ meta }, { user_id, until_current }) => {
      if (!(await limitsGuests(database, meta.realmId)))
        return { hidden: { ids: [] }, hidden_from: { ids: [] }, is_current: true };
      // Callers decide about people who were just subscribed or unsubscribed together.
      // Callers of the previous release send no `until_current` and may not call again before a refusal, so they wait longer.
      let { isComplete } = await (until_current === undefined ? catchUpAll : catchUp)(meta.realmId);
      // `catchUp` rejects at the deadline, which ends the loop.
      while (until_current && !isComplete) ({ isComplete } = await catchUp(meta.realmId));
      const hidden = await hiddenPeople(database, meta.realmId, { guests: [user_id] });
      const hiddenFrom = await hiddenPeople(database, meta.realmId, { people: [user_id] });
      return {
        hidden: idSet(hidden.peopleOf(user_id)),
        hidden_from: idSet(hiddenFrom.guestsOf(user_id)),
        is_current: isComplete,
      };
    }),
  ];
}
