import type { Holder } from '@natter/permissions';
import { mayIn } from './holder.ts';
import type { Realm } from './read-realm.ts';

/** The user's rights in the realm, for older clients. They follow from settings that are announced separately. */
export function rightsOf(realm: Realm, holder: Holder): Record<string, boolean> {
  const isPrivate = mayIn(realm, 'can_create_private_channel_group', holder);
  const isPublic = mayIn(realm, 'can_create_public_channel_group', holder);
  return {
    can_create_private_streams: isPrivate,
    can_create_public_streams: isPublic,
    can_create_web_public_streams:
      realm.settings.enable_spectator_access && mayIn(realm, 'can_create_web_public_channel_group', holder),
    can_create_streams: isPrivate || isPublic,
    can_subscribe_other_users: mayIn(realm, 'can_add_subscribers_group', holder),
    can_invite_others_to_realm: mayIn(realm, 'can_invite_users_group', holder),
  };
}
