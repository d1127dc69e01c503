import { type SystemGroupName, systemGroupNames } from '@natter/contracts';
import type { Work } from '@natter/database';
import { defaultPermissions } from './channel-permissions.ts';
import { announceChannels, insertChannels } from './create-channels.ts';
import type { Directory, Person } from './directory/directory.ts';

/**
 * Creates the default channels of a new realm, which the event of its first owner names. They are public and belong to
 * the owner, who is subscribed as a newcomer afterwards. The names were checked before the event was committed.
 */
export async function createFirstChannels(
  work: Work,
  directory: Directory,
  owner: Person,
  names: readonly string[],
): Promise<void> {
  if (names.length === 0) return;
  const created = await insertChannels(
    work,
    names.map((name) => ({ name, description: '', html: '' })),
    {
      creatorId: owner.userId,
      isPrivate: false,
      isWebPublic: false,
      historyPublic: true,
      isDefault: true,
      retention: null,
      topicsPolicy: 'inherit',
      folder: null,
      permissions: defaultPermissions(allSystemGroups(directory), owner.userId),
    },
  );
  const announced = created.map((channel) => ({ channel, willSubscribe: [owner.userId] }));
  await announceChannels({ work, directory, actor: owner }, announced, { announce: false, is_default_stream: true });
}

/** The events of the system groups precede those of the first users. */
function allSystemGroups(directory: Directory): Record<SystemGroupName, number> {
  const ids = systemGroupNames.map((name) => {
    const id = directory.systemGroup(name);
    if (id === undefined) throw new Error(`The group ${name} of a new realm is unknown`);
    return [name, id];
  });
  return Object.fromEntries(ids);
}
