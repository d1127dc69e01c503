import { badRequest, roles } from '@natter/contracts';
import type { Decision } from './deciding.ts';
import { mustBeOwner } from './refusals.ts';

/**
 * The value to store: null inherits, -1 keeps messages forever. Only owners may set it; anyone may create a channel
 * that inherits.
 */
export function checkedRetention(
  { actor }: Decision,
  days: number | 'realm_default' | 'unlimited' | undefined,
  isChange = false,
): number | null {
  if (days === undefined || (days === 'realm_default' && !isChange)) return null;
  if (actor.role !== roles.owner) throw mustBeOwner();
  if (days === 'realm_default') return null;
  if (days === 'unlimited') return -1;
  if (days < 1) throw badRequest(`Bad value for 'message_retention_days': ${days}`);
  return days;
}
