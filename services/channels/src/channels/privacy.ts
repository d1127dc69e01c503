import { badRequest, insufficientPermission } from '@natter/contracts';
import type { ChannelRow } from '../model/channel-row.ts';
import { type Decision, hasRealmPermission } from '../model/deciding.ts';
import { checkMayBeWebPublic } from '../model/web-public.ts';

type Privacy = Pick<ChannelRow, 'is_private' | 'is_web_public' | 'history_public'>;

interface Wanted {
  is_private?: boolean | undefined;
  is_web_public?: boolean | undefined;
  history_public_to_subscribers?: boolean | undefined;
}

/**
 * The requested privacy of the channel and its history. A private channel is never web-public, and only a private one
 * hides its history from later subscribers; unspecified values follow from the others.
 */
export function changedPrivacy(
  decision: Decision,
  channel: ChannelRow,
  wanted: Wanted,
  needsContent: () => void,
): Privacy {
  const is = {
    is_private: channel.is_private,
    is_web_public: channel.is_web_public,
    history_public: channel.history_public,
  };
  const asked = [wanted.is_private, wanted.is_web_public, wanted.history_public_to_subscribers];
  if (asked.every((value) => value === undefined)) return is;
  const is_private = wanted.is_private ?? (wanted.is_web_public ? false : channel.is_private);
  const is_web_public = wanted.is_web_public ?? (is_private ? false : channel.is_web_public);
  if (is_private && is_web_public) throw badRequest('Invalid parameters');
  const becomesPrivate = is_private && !channel.is_private;
  const history_public =
    wanted.history_public_to_subscribers ?? (is_private ? !becomesPrivate && channel.history_public : true);
  if (!is_private && !history_public) throw badRequest('Invalid parameters');
  const after = { is_private, is_web_public, history_public };
  if (JSON.stringify(after) === JSON.stringify(is)) return is;
  if (!is_private && decision.policy.settings.moderation_request_channel_id === channel.id)
    throw badRequest('Moderation request channel must be private.');
  needsContent();
  if (is_web_public && !channel.is_web_public) checkMayBeWebPublic(decision);
  if (becomesPrivate && !hasRealmPermission(decision, 'can_create_private_channel_group'))
    throw insufficientPermission();
  if (
    !is_private &&
    channel.is_private &&
    !is_web_public &&
    !hasRealmPermission(decision, 'can_create_public_channel_group')
  )
    throw insufficientPermission();
  return after;
}
