import { type Actor, type RoleName, roles } from './actor.ts';
import { badRequest, type ChatError } from './error.ts';
import type { Operation } from './operation.ts';

type Rules = Pick<Operation, 'caller' | 'role' | 'isForWriteOnly' | 'botRefusal'>;

/** Whether the operation always requires authentication. */
export const needsActor = ({ caller }: Pick<Operation, 'caller'>): boolean => caller === 'user' || caller === 'human';

const roleRefusals: Record<Exclude<RoleName, 'guest'>, string> = {
  owner: 'Must be an organization owner',
  administrator: 'Must be an organization administrator',
  moderator: 'Must be an organization moderator',
  member: 'Not allowed for guest users',
};

/**
 * The refusal of an actor that the contract does not allow to call the operation; undefined if it is allowed. A
 * permission of the realm is checked separately, because it needs the realm's settings; `insufficientPermission` is its
 * refusal.
 */
export function refusalOf(
  { caller, role, isForWriteOnly, botRefusal }: Rules,
  actor: Pick<Actor, 'role' | 'isBot' | 'isWriteOnly'>,
): ChatError | undefined {
  if (caller === 'internal' || caller === 'operator' || caller === 'public') return undefined;
  if (actor.isWriteOnly && !isForWriteOnly) return badRequest('This API is not available to incoming webhook bots.');
  if (caller === 'human' && actor.isBot) return badRequest(botRefusal ?? 'This endpoint does not accept bot requests.');
  if (role && actor.role > roles[role]) return badRequest(roleRefusals[role]);
  return undefined;
}

const kinds: Record<Operation['caller'], string> = {
  public: 'No authentication.',
  spectator: 'Users, and spectators where the organization allows them.',
  user: 'Users and bots.',
  human: 'Users; no bots.',
  internal: 'Services.',
  operator: 'The operator.',
};

/** A description of the permitted callers, for the API documents. */
export const whoMayCall = ({ caller, role, permission }: Pick<Operation, 'caller' | 'role' | 'permission'>): string =>
  [
    kinds[caller],
    role === 'owner' ? 'Owners only.' : role ? `Minimum role: ${role}.` : '',
    permission ? `Needs the permission ${permission}.` : '',
  ]
    .filter((part) => part !== '')
    .join(' ');

export const insufficientPermission = (): ChatError => badRequest('Insufficient permission');
