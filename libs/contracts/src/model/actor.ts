import { z } from 'zod';

/**
 * The user or bot that makes a request. It is part of the request; `basis` contains the versions that it was read at,
 * so that a write made with it is rejected if the role, the groups or the credentials changed in between.
 */
export const actorSchema = z.object({
  realmId: z.int(),
  userId: z.int(),
  /** The address visible to all users: the real one only if every user may see it. */
  email: z.string(),
  role: z.int(),
  isBot: z.boolean(),
  /** The owner of a bot. Services of the previous release omit it. */
  botOwnerId: z.int().optional(),
  /** A bot of the system itself: it may write to every conversation. */
  isSystemBot: z.boolean().optional(),
  /** A bot that may only send. */
  isWriteOnly: z.boolean().optional(),
  /** A bot that may send in the name of others. */
  mayForgeSender: z.boolean().optional(),
  /** The API key that was used; revoking it ends the actor. */
  keyId: z.string(),
  /** All groups the user is in, directly or through subgroups. */
  groupIds: z.array(z.int()),
  /** The expected versions of writes by this actor. */
  basis: z.record(z.string(), z.int()),
});
export type Actor = z.infer<typeof actorSchema>;

export const roles = { owner: 100, administrator: 200, moderator: 300, member: 400, guest: 600 } as const;
export type RoleName = keyof typeof roles;
export const roleValues = [100, 200, 300, 400, 600] as const;
export const isAdministrator = (actor: { role: number }): boolean => actor.role <= roles.administrator;
export const isGuest = (actor: { role: number }): boolean => actor.role === roles.guest;
