import type { keptPersonalSettings, UserSettingValues } from '@natter/contracts';
import { type Executor, sql, type Work } from '@natter/database';
import { z } from 'zod';
import { isWaiting, reaches } from './waiting-events.ts';

/** The projected settings with their defaults, which apply without a row. */
const usual = {
  enable_drafts_synchronization: true,
  send_stream_typing_notifications: true,
  send_private_typing_notifications: true,
  receives_typing_notifications: true,
  send_read_receipts: true,
  translate_emoticons: false,
  automatically_follow_topics_where_mentioned: true,
  automatically_follow_topics_policy: 3,
  automatically_unmute_topics_in_muted_streams_policy: 2,
  resolved_topic_notice_auto_read_policy: 'except_followed',
  email_address_visibility: 1,
} as const satisfies Pick<UserSettingValues, (typeof keptPersonalSettings)[number]>;
export type PersonalSetting = keyof typeof usual;
export type BooleanSetting = { [K in PersonalSetting]: (typeof usual)[K] extends boolean ? K : never }[PersonalSetting];

export const isKeptSetting = (name: string): name is PersonalSetting => Object.hasOwn(usual, name);

export async function storeSetting(work: Work, userId: number, name: PersonalSetting, value: unknown): Promise<void> {
  await work.run(sql.unsafe`
    INSERT INTO messaging.personal_setting (realm_id, user_id, name, value) VALUES (${work.realmId}, ${userId}, ${name}, ${JSON.stringify(value)})
    ON CONFLICT (realm_id, user_id, name) DO UPDATE SET value = excluded.value`);
}

/** Whether a boolean setting is on for this user. */
export async function isOn(
  executor: Executor,
  realmId: number,
  userId: number,
  name: BooleanSetting,
): Promise<boolean> {
  const row = await executor.maybeOne(sql.type(z.object({ value: z.boolean() }))`
    SELECT value FROM messaging.personal_setting WHERE realm_id = ${realmId} AND user_id = ${userId} AND name = ${name}`);
  return row?.value ?? usual[name];
}

/** Whether the log contains an event that sets this setting of the user, and that is not applied here. */
export const isSettingWaiting = (
  executor: Executor,
  { realmId, userId }: { realmId: number; userId: number },
  name: PersonalSetting,
): Promise<boolean> =>
  isWaiting(executor, realmId, {
    consumer: 'personal-settings',
    types: ['user_settings', 'realm_user'],
    matters: {
      'realm_user/add': ({ person }) => person === userId,
      [`user_settings/update/${name}`]: (event) => reaches(event, userId),
    },
  });

/** Among the users, those who turned off a setting that is on by default. */
export async function whoTurnedOff(
  executor: Executor,
  realmId: number,
  name: BooleanSetting,
  userIds: readonly number[],
): Promise<Set<number>> {
  const rows = await executor.any(sql.type(z.object({ user_id: z.number() }))`
    SELECT user_id FROM messaging.personal_setting
    WHERE realm_id = ${realmId} AND name = ${name} AND value = 'false' AND user_id = ANY(${sql.array([...userIds], 'int4')})`);
  return new Set(rows.map((row) => row.user_id));
}
