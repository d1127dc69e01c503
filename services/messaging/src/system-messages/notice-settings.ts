import type { keptRealmSettings, RealmSettingValues } from '@natter/contracts';
import { type Executor, sql, type Work } from '@natter/database';
import { z } from 'zod';

/** Realm settings that decide on notices, with their defaults. */
const usual = {
  new_stream_announcements_stream_id: -1,
  signup_announcements_stream_id: -1,
  send_channel_events_messages: true,
  welcome_message_custom_text: '',
} satisfies Pick<RealmSettingValues, (typeof keptRealmSettings)[number]>;
export type NoticeSettings = typeof usual;

export async function storeRealmSettings(work: Work, values: object): Promise<void> {
  for (const [name, value] of Object.entries(values))
    if (name in usual)
      await work.run(sql.unsafe`
        INSERT INTO messaging.realm_setting (realm_id, name, value) VALUES (${work.realmId}, ${name}, ${JSON.stringify(value)})
        ON CONFLICT (realm_id, name) DO UPDATE SET value = excluded.value`);
}

export async function noticeSettings(executor: Executor, realmId: number): Promise<NoticeSettings> {
  const rows = await executor.any(sql.type(z.object({ name: z.string(), value: z.unknown() }))`
    SELECT name, value FROM messaging.realm_setting WHERE realm_id = ${realmId}`);
  return { ...usual, ...Object.fromEntries(rows.map(({ name, value }) => [name, value])) };
}
