import { type User, unknownUser } from '@natter/contracts';

/** The placeholder for an invisible user: identical for all except for the id. */
export const stubOf = (userId: number, host: string): User => ({
  user_id: userId,
  delivery_email: null,
  ...unknownUser(userId, host),
  date_joined: '1970-01-01T00:00:00+00:00',
  is_active: true,
  is_owner: false,
  is_admin: false,
  is_guest: false,
  is_bot: false,
  bot_type: null,
  role: 400,
  timezone: '',
  avatar_version: 1,
});
