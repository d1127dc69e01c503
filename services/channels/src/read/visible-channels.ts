import { type Executor, sql } from '@natter/database';
import { type Holder, hasMetadataAccess } from '@natter/permissions';
import { z } from 'zod';
import { type ChannelRow, channelColumns, channelRow } from '../channel-row.ts';
import { type Personal, personalColumns } from '../subscription/personal.ts';

const visibleRow = channelRow.extend({
  is_subscribed: z.boolean().nullable(),
  color: z.string().nullable(),
  is_muted: z.boolean().nullable(),
  pin_to_top: z.boolean().nullable(),
  desktop_notifications: z.boolean().nullable(),
  email_notifications: z.boolean().nullable(),
  push_notifications: z.boolean().nullable(),
  audible_notifications: z.boolean().nullable(),
  wildcard_mentions_notify: z.boolean().nullable(),
});

/** A channel that somebody may know, and how they stand to it; without personal settings they never were subscribed. */
export interface Visible {
  channel: ChannelRow;
  isSubscribed: boolean;
  personal: Personal | undefined;
}

/** All channels that somebody may know, by id; without a holder, only what is open to the whole web. */
export async function visibleChannels(
  executor: Executor,
  realmId: number,
  userId: number,
  holder: Holder | undefined,
  withArchived: boolean,
): Promise<Visible[]> {
  const rows = await executor.any(sql.type(visibleRow)`
    SELECT ${channelColumns}, s.is_active AS is_subscribed, ${personalColumns} FROM channels.channel c
    LEFT JOIN channels.subscription s ON s.channel_id = c.id AND s.user_id = ${userId}
    WHERE c.realm_id = ${realmId} AND (${withArchived} OR NOT c.is_archived) ORDER BY c.id`);
  return rows.flatMap(
    ({
      is_subscribed,
      color,
      is_muted,
      pin_to_top,
      desktop_notifications,
      email_notifications,
      push_notifications,
      audible_notifications,
      wildcard_mentions_notify,
      ...channel
    }): Visible[] => {
      const isSubscribed = is_subscribed === true;
      const isKnown = holder ? hasMetadataAccess(channel, holder, isSubscribed) : isSubscribed || channel.is_web_public;
      if (!isKnown) return [];
      if (color === null) return [{ channel, isSubscribed, personal: undefined }];
      const personal = {
        color,
        is_muted: is_muted ?? false,
        pin_to_top: pin_to_top ?? false,
        desktop_notifications,
        email_notifications,
        push_notifications,
        audible_notifications,
        wildcard_mentions_notify,
      };
      return [{ channel, isSubscribed, personal }];
    },
  );
}
