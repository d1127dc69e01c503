import { sql } from '@natter/database';
import { z } from 'zod';
import { type ChannelContext, toChannel } from './channel-object.ts';
import type { ChannelRow } from './channel-row.ts';
import { effectiveNotification, notificationSettings, type Person } from './directory/directory.ts';

/** A subscriber's own settings of a channel. A null notification setting inherits the user's. */
export const personalRow = z.object({
  color: z.string(),
  is_muted: z.boolean(),
  pin_to_top: z.boolean(),
  desktop_notifications: z.boolean().nullable(),
  email_notifications: z.boolean().nullable(),
  push_notifications: z.boolean().nullable(),
  audible_notifications: z.boolean().nullable(),
  wildcard_mentions_notify: z.boolean().nullable(),
});
export type Personal = z.infer<typeof personalRow>;

export const personalColumns = sql.fragment`s.color, s.is_muted, s.pin_to_top, s.desktop_notifications, s.email_notifications,
  s.push_notifications, s.audible_notifications, s.wildcard_mentions_notify`;

export const newPersonal = (color: string): Personal => ({
  color,
  is_muted: false,
  pin_to_top: false,
  desktop_notifications: null,
  email_notifications: null,
  push_notifications: null,
  audible_notifications: null,
  wildcard_mentions_notify: null,
});

/** The personal fields as clients see them. */
export const toPersonalFields = (personal: Personal): Personal & { in_home_view: boolean } => ({
  ...personal,
  in_home_view: !personal.is_muted,
});

/** The values for clients that do not support inheritance (capability `notification_settings_null`). */
export const withoutNulls = (personal: Personal, person: Person | undefined): Partial<Personal> =>
  Object.fromEntries(notificationSettings.map((name) => [name, personal[name] ?? effectiveNotification(person, name)]));

export const toSubscription = <L extends object>(
  row: ChannelRow,
  context: ChannelContext,
  personal: Personal,
  lists: L,
) => ({ ...toChannel(row, context), ...lists, ...toPersonalFields(personal) });
