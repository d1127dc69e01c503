import { z } from 'zod';

/**
 * Who makes a request. It travels with the request; `basis` names the versions it rests on, so that a write made with it
 * is refused when the role, the groups or the credentials changed in between (design, section 3).
 */
export const actorSchema = z.object({
  realmId: z.int(),
  userId: z.int(),
  /** The one that everybody knows; the real one only where everybody may know that. */
  email: z.string(),
  role: z.int(),
  isBot: z.boolean(),
  /** A bot of the realm itself: it may write wherever it has something to say. */
  isSystemBot: z.boolean().optional(),
  /** A bot that may send, and nothing else. */
  isWriteOnly: z.boolean().optional(),
  /** Which of the user's API keys was shown; a revoked one ends the actor. */
  keyId: z.string(),
  /** All groups the user is in, directly or through subgroups. */
  groupIds: z.array(z.int()),
  basis: z.record(z.string(), z.int()),
});
export type Actor = z.infer<typeof actorSchema>;

export const roles = { owner: 100, administrator: 200, moderator: 300, member: 400, guest: 600 } as const;
export const roleValues = [100, 200, 300, 400, 600] as const;
export const isAdministrator = (actor: { role: number }): boolean => actor.role <= roles.administrator;
export const isGuest = (actor: { role: number }): boolean => actor.role === roles.guest;
