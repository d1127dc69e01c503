import { z } from 'zod';
import { type ChannelPermission, groupSettingSchema } from '../model/permission-settings.ts';
import { channelPermissionMeanings } from './permissions.ts';

/** The value of each permission of a channel. */
export const channelPermissionsSchema = z.object(
  Object.fromEntries(
    Object.entries(channelPermissionMeanings).map(([name, meaning]) => [name, groupSettingSchema.describe(meaning)]),
  ) as Record<ChannelPermission, typeof groupSettingSchema>,
);
export type ChannelPermissions = z.infer<typeof channelPermissionsSchema>;
