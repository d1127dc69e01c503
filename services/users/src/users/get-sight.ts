import { idSet, sightOperations } from '@natter/contracts';
import { type Handlers, handle, type Owner } from '@natter/service-kit';
import { hiddenPeople, limitsGuests } from '../model/sight.ts';

export const sightHandlers = ({ database }: Owner): Handlers => [
  handle(sightOperations.getSight, async ({ meta }, { user_id }) => {
    if (!(await limitsGuests(database, meta.realmId))) return { hidden: { ids: [] }, hidden_from: { ids: [] } };
    const hidden = await hiddenPeople(database, meta.realmId, { guests: [user_id] });
    const hiddenFrom = await hiddenPeople(database, meta.realmId, { people: [user_id] });
    return { hidden: idSet(hidden.get(user_id) ?? []), hidden_from: idSet(hiddenFrom.keys()) };
  }),
];
