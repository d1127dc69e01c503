import { serverVersion } from '@natter/contracts';
import { type CommonConfig, openOwner, type Process, type Running } from '@natter/service-kit';
import { accountHandlers } from './accounts.ts';
import { authenticationHandlers } from './authentication.ts';
import { operatorKeyHandlers } from './operator-keys.ts';
import { realmPolicyHandlers } from './realm-policy.ts';
import { realmHandlers } from './realms.ts';
import { snapshotHandlers } from './snapshot.ts';

/** Accounts, credentials, roles, groups and the realm. */
export async function startUsers(process: Process<CommonConfig>): Promise<Running> {
  const owner = openOwner(process, 'users');
  await process.bus.serve('users', serverVersion.replace(/-.*/, '.0').replace(/^(\d+\.\d+)\.0$/, '$1.0'), [
    ...realmHandlers(owner),
    ...realmPolicyHandlers(owner),
    ...authenticationHandlers(owner),
    ...accountHandlers(owner),
    ...operatorKeyHandlers(owner),
    ...snapshotHandlers(owner),
  ]);
  return { stop: () => owner.close() };
}
