import { idSet, userVisibilityOperations } from '@natter/contracts';
import { type Handlers, handle, type Owner } from '@natter/service-kit';
import { hiddenPeople, limitsGuests } from '../model/user-visibility.ts';

export const userVisibilityHandlers = ({ database, catchUp }: Owner): Handlers => [
  handle(userVisibilityOperations.getSight, async ({ meta }, { user_id }) => {
    if (!(await limitsGuests(database, meta.realmId))) return { hidden: { ids: [] }, hidden_from: { ids: [] } };
    // Callers decide about people who were just subscribed or unsubscribed together.
    await catchUp(meta.realmId);
    const hidden = await hiddenPeople(database, meta.realmId, { guests: [user_id] });
    const hiddenFrom = await hiddenPeople(database, meta.realmId, { people: [user_id] });
    return { hidden: idSet(hidden.peopleOf(user_id)), hidden_from: idSet(hiddenFrom.guestsOf(user_id)) };
  }),
];
