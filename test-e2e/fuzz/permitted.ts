/** Roles that may never succeed with an operation, whatever the settings of the organization. */
import type { Operation } from '@natter/contracts';
import type { RoleName } from './target/world.ts';

/** Written by hand, independently of the contract. */
const ownersOnly = new Set(['add-realm-domain', 'update-realm-domain', 'remove-realm-domain', 'deactivate-realm']);
const administratorsOnly = new Set([
  'update-realm',
  'add-realm-icon',
  'remove-realm-icon',
  'add-realm-logo',
  'remove-realm-logo',
  'reorder-linkifiers',
  'add-linkifier',
  'update-linkifier',
  'remove-linkifier',
  'add-playground',
  'remove-playground',
  'update-settings-defaults',
  'create-profile-field',
  'update-profile-field',
  'reorder-profile-fields',
  'remove-profile-field',
  'update-status',
  'create-user',
  'update-user',
  'deactivate-user',
  'reactivate-user',
  'create-channel-folder',
  'update-channel-folder',
  'reorder-channel-folders',
  'add-default-channel',
  'remove-default-channel',
  'create-default-group',
  'update-default-group',
  'delete-default-group',
  'change-default-group',
  'test-welcome-message',
  'get-exports',
  'create-export',
  'remove-export',
  'get-export-consents',
  'get-server-status',
]);

const membersOnly = new Set(['get-bots', 'update-bot', 'regenerate-bot-api-key', 'subscribe', 'create-channel']);

/** The reason why this operation must not succeed for this role; undefined if it may succeed. */
export function whyForbidden(operation: Operation, role: RoleName): string | undefined {
  if (operation.caller === 'public') return undefined;
  if (role === 'deactivated' || role === 'wrong-key') return 'a key that does not work';
  if (role === 'anonymous') return 'no key, in a realm without spectators';
  if (role === 'spectator') return operation.caller === 'spectator' ? undefined : 'no key';
  if (role === 'webhook-bot' && !operation.isForWriteOnly) return 'a bot that may only write';
  if (ownersOnly.has(operation.name)) return role === 'owner' ? undefined : 'no owner';
  if (administratorsOnly.has(operation.name))
    return role === 'owner' || role === 'administrator' ? undefined : 'no administrator';
  return role === 'guest' && membersOnly.has(operation.name) ? 'a guest' : undefined;
}
