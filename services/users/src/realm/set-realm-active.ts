import { userOperations } from '@natter/contracts';
import { type Handlers, handle, type Owner } from '@natter/service-kit';
import { lockRealm } from '../model/read-realm.ts';
import { endRealm, reviveRealm } from '../model/realm-activity.ts';

export function setRealmActiveHandlers({ background }: Owner): Handlers {
  return [
    handle(userOperations.setRealmActive, async ({ meta }, { is_active }) =>
      background(meta.realmId, async (work) => {
        const { isDeactivated } = await lockRealm(work);
        if (isDeactivated === is_active) await (is_active ? reviveRealm : endRealm)(work);
        return {};
      }),
    ),
  ];
}
