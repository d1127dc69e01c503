import { roles } from '@natter/contracts';

/** In order of creation; each but `role:nobody` is a subgroup of the next. */
export const systemGroups = [
  { name: 'role:nobody', description: 'Nobody' },
  { name: 'role:owners', description: 'Owners of this organization' },
  { name: 'role:administrators', description: 'Administrators of this organization, including owners' },
  { name: 'role:moderators', description: 'Moderators of this organization, including administrators' },
  { name: 'role:fullmembers', description: 'Members of this organization, not including new accounts and guests' },
  { name: 'role:members', description: 'Members of this organization, not including guests' },
  { name: 'role:everyone', description: 'Everyone in this organization, including guests' },
  { name: 'role:internet', description: 'Everyone on the Internet' },
] as const;

const byRole: Record<number, readonly string[]> = {
  [roles.owner]: ['role:owners'],
  [roles.administrator]: ['role:administrators'],
  [roles.moderator]: ['role:moderators'],
  [roles.member]: ['role:members', 'role:fullmembers'],
  [roles.guest]: ['role:everyone'],
};

/** The system groups a user is a direct member of. */
export const systemGroupsOfRole = (role: number): readonly string[] => byRole[role] ?? [];
