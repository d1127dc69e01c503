import type { Holder } from '@natter/permissions';
import { mayIn } from '../groups/holder.ts';
import type { Realm } from './read-realm.ts';

/** What a person may do in the realm, as older clients read it; it follows from settings that are announced on their own. */
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
