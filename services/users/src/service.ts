import { serverVersion } from '@natter/contracts';
import { openOwner, type Process, type Running } from '@natter/service-kit';
import { accountHandlers } from './accounts.ts';
import { authenticationHandlers } from './authentication.ts';
import { collectionHandlers, collectionSnapshots } from './collections/index.ts';
import type { UsersConfig } from './config.ts';
import { startFullMembers } from './groups/full-members.ts';
import { groupsSnapshot } from './groups/groups-snapshot.ts';
import { groupHandlers } from './groups/index.ts';
import { invitationHandlers } from './invitations/index.ts';
import { operatorKeyHandlers } from './operator-keys.ts';
import { profileFieldHandlers, profileFieldsSnapshot } from './profile-fields/index.ts';
import { realmHandlers, realmSnapshots } from './realm/index.ts';
import { peopleSnapshot, snapshotHandlers } from './snapshot.ts';

/** Accounts, credentials, roles, groups and the realm. */
export async function startUsers(process: Process<UsersConfig>): Promise<Running> {
  const owner = openOwner(process, 'users');
  const { bus, config, log } = process;
  await bus.serve('users', serverVersion.replace(/-.*/, '.0').replace(/^(\d+\.\d+)\.0$/, '$1.0'), [
    ...realmHandlers(owner, bus, config),
    ...groupHandlers(owner, bus),
    ...profileFieldHandlers(owner),
    ...collectionHandlers(owner),
    ...invitationHandlers(owner, bus, config),
    ...authenticationHandlers(owner),
    ...accountHandlers(owner),
    ...operatorKeyHandlers(owner),
    ...snapshotHandlers(owner, [
      peopleSnapshot,
      groupsSnapshot,
      profileFieldsSnapshot,
      ...collectionSnapshots,
      ...realmSnapshots(config),
    ]),
  ]);
  const stopFullMembers = startFullMembers(owner, (error) => log.warn({ err: error }, 'full members not looked for'));
  return {
    stop: async () => {
      stopFullMembers();
      await owner.close();
    },
  };
}
