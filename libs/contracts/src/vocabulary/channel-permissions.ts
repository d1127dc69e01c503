import { z } from 'zod';
import { keysOf, recordOf } from '../model/keys.ts';
import { groupSettingSchema } from '../model/permission-settings.ts';
import { channelPermissionMeanings } from './permissions.ts';

/** The value of each permission of a channel. */
export const channelPermissionsSchema = z.object(
  recordOf(keysOf(channelPermissionMeanings), (name) => groupSettingSchema.describe(channelPermissionMeanings[name])),
);
export type ChannelPermissions = z.infer<typeof channelPermissionsSchema>;
