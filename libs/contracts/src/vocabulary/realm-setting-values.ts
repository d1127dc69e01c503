import { z } from 'zod';
import type { RealmSetting, RealmSettingName } from '../model/realm-settings.ts';
import { realmSettingMeanings } from './realm-settings.ts';

const int = z.int();
const bool = z.boolean();
const str = z.string();

/** Settings whose value may be null. */
const nullable: Record<string, z.ZodType> = {
  message_content_edit_limit_seconds: int.nullable(),
  message_content_delete_limit_seconds: int.nullable(),
  move_messages_within_stream_limit_seconds: int.nullable(),
  move_messages_between_streams_limit_seconds: int.nullable(),
  jitsi_server_url: str.nullable(),
};
const kinds: Record<string, z.ZodType> = { boolean: bool, number: int, string: str };
/** The values of a setting that clients read. */
export const settingValue = (name: RealmSettingName, { default: initial }: RealmSetting): z.ZodType =>
  (nullable[name] ?? kinds[typeof initial] ?? z.never()).describe(realmSettingMeanings[name]);

/** Deprecated fields that repeat a setting or a permission. */
export const settingMirrors = {
  allow_edit_history: bool.describe('Deprecated: whether `message_edit_history_visibility_policy` is not `none`.'),
  mandatory_topics: bool.describe('Deprecated: whether `topics_policy` is `disable_empty_topic`.'),
};
export const permissionMirrors = {
  create_public_stream_policy: int,
  create_private_stream_policy: int,
  create_web_public_stream_policy: int,
  wildcard_mention_policy: int,
};
