import type { User } from '@natter/contracts';

/** Hides addresses, except those of bots, and the time of joining. */
export const forSpectators = (user: User, host: string): User => ({
  ...user,
  ...(user.is_bot ? {} : { delivery_email: null, email: `user${user.user_id}@${host}` }),
  date_joined: user.date_joined.slice(0, 10),
});
