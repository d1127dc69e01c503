import type { BodyOf, LogEvent } from '@natter/contracts';
import { type Executor, sql, type Work } from '@natter/database';
import { z } from 'zod';

const channelCopyRow = z.object({
  channel_id: z.number(),
  name: z.string(),
  is_private: z.boolean(),
  is_web_public: z.boolean(),
  is_archived: z.boolean(),
  history_public: z.boolean(),
  /** Whether the reader is subscribed; null if they never were. */
  is_in: z.boolean().nullable(),
});
export type ChannelCopy = z.infer<typeof channelCopyRow>;

/** `stream/create` may repeat a known channel, because it also announces new access. */
export async function channelsAppeared(work: Work, { body }: LogEvent<'stream/create'>): Promise<void> {
  for (const channel of body.streams)
    await work.run(sql.unsafe`
      INSERT INTO messaging.channel (realm_id, channel_id, name, is_private, is_web_public, is_archived, history_public)
      VALUES (${work.realmId}, ${channel.stream_id}, ${channel.name}, ${channel.invite_only},
        ${channel.is_web_public}, ${channel.is_archived}, ${channel.history_public_to_subscribers})
      ON CONFLICT (realm_id, channel_id) DO UPDATE SET name = excluded.name, is_private = excluded.is_private,
        is_web_public = excluded.is_web_public, is_archived = excluded.is_archived, history_public = excluded.history_public`);
}

export async function channelUpdated(work: Work, { body }: LogEvent<'stream/update'>): Promise<void> {
  const changes = changesOf(body);
  if (!changes) return;
  const set = sql.join(
    Object.entries(changes).map(([column, value]) => sql.fragment`${sql.identifier([column])} = ${value}`),
    sql.fragment`, `,
  );
  await work.run(sql.unsafe`
    UPDATE messaging.channel SET ${set} WHERE realm_id = ${work.realmId} AND channel_id = ${body.stream_id}`);
}

/** `name` in the body is the name before the change; a change of privacy includes dependent properties. */
function changesOf(change: BodyOf<'stream/update'>): Partial<ChannelCopy> | undefined {
  switch (change.property) {
    case 'name':
      return { name: change.value };
    case 'invite_only':
      return {
        is_private: change.value,
        is_web_public: change.is_web_public,
        history_public: change.history_public_to_subscribers,
      };
    case 'is_archived':
      return { is_archived: change.value };
    case 'history_public_to_subscribers':
      return { history_public: change.value };
    default:
      return undefined;
  }
}

/** All channels of a realm, with the reader's relation to each; 0 for a reader without an account. */
export const channelCopies = (executor: Executor, realmId: number, userId = 0): Promise<ChannelCopy[]> =>
  executor.any(sql.type(channelCopyRow)`
    SELECT c.channel_id, c.name, c.is_private, c.is_web_public, c.is_archived, c.history_public, p.is_in
    FROM messaging.channel c LEFT JOIN (
      SELECT channel_id, bool_or(to_id IS NULL) AS is_in FROM messaging.subscription_period
      WHERE realm_id = ${realmId} AND user_id = ${userId} GROUP BY channel_id) p USING (channel_id)
    WHERE c.realm_id = ${realmId}`);
