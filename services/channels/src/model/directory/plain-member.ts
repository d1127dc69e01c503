import type { Person } from './directory.ts';

/** An active member without further properties, for tests. */
export const plainMember = (userId: number): Person => ({
  userId,
  email: '',
  role: 400,
  isActive: true,
  isBot: false,
  botOwnerId: null,
  notifications: {},
});
