import { realmOperations } from '@natter/contracts';
import { sql } from '@natter/database';
import { type Handlers, handle, type Owner } from '@natter/service-kit';
import { change } from '../change.ts';
import { holderOf, requireOwner } from '../groups/holder.ts';

export function deactivateRealmHandlers(owner: Owner): Handlers {
  return [
    handle(realmOperations.deactivateRealm, async (context) =>
      change(owner, context, async (work) => {
        requireOwner(await holderOf(work, context.actor.userId));
        await work.run(sql.unsafe`UPDATE users.realm SET is_deactivated = true WHERE id = ${work.realmId}`);
        work.bump('realm');
        // Every actor rests on the groups: none of them can write any more.
        work.bump('groups');
        work.emit({ type: 'realm', op: 'deactivated', body: { realm_id: work.realmId }, audience: 'realm' });
        return {};
      }),
    ),
    handle(realmOperations.checkSubdomain, async () => ({
      msg: 'Subdomain already in use. Please choose a different one.',
    })),
  ];
}
