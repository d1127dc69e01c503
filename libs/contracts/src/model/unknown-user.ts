/** The placeholder for a user whom the receiver may not see: identical for all except for the ID. */
export interface UnknownUser {
  email: string;
  full_name: string;
  avatar_url: string;
}

/** An address that identifies an account without its real address. */
export const nominalEmail = (userId: number, host: string): string => `user${userId}@${host}`;

export const unknownUser = (userId: number, host: string): UnknownUser => ({
  email: nominalEmail(userId, host),
  full_name: 'Unknown user',
  avatar_url: '/avatar/unknown?version=1',
});
