/** The roles of people, with their numbers in the API. */
export const roles = [
  [100, 'Owner'],
  [200, 'Administrator'],
  [300, 'Moderator'],
  [400, 'Member'],
  [600, 'Guest'],
] as const;

export const roleName = (role: number): string => roles.find(([value]) => value === role)?.[1] ?? '';
