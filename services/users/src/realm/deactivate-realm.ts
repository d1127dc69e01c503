import { realmOperations } from '@natter/contracts';
import { type Handlers, handleWrite } from '@natter/service-kit';
import { endRealm } from '../model/realm-activity.ts';

export function deactivateRealmHandlers(): Handlers {
  return [
    handleWrite(realmOperations.deactivateRealm, async (context) =>
      context.write(async (work) => {
        await endRealm(work);
        return {};
      }),
    ),
  ];
}
