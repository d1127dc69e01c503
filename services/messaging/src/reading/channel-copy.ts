import type { LogEvent } from '@natter/contracts';
import { type Executor, sql, type Work } from '@natter/database';
import { z } from 'zod';

const channelCopyRow = z.object({
  channel_id: z.number(),
  name: z.string(),
  is_private: z.boolean(),
  is_web_public: z.boolean(),
  is_archived: z.boolean(),
  history_public: z.boolean(),
  /** Whether the reader is subscribed; null for who never was. */
  is_in: z.boolean().nullable(),
});
export type ChannelCopy = z.infer<typeof channelCopyRow>;

const columnOf: Record<string, string> = {
  name: 'name',
  invite_only: 'is_private',
  is_web_public: 'is_web_public',
  is_archived: 'is_archived',
  history_public_to_subscribers: 'history_public',
};

/** Applies an event to the copy. `stream/create` may repeat a known channel: it also tells that somebody gained access. */
export async function channelChanged(work: Work, { op, body }: LogEvent): Promise<void> {
  if (op === 'create')
    for (const channel of body.streams as Record<string, unknown>[])
      await work.run(sql.unsafe`
        INSERT INTO messaging.channel (realm_id, channel_id, name, is_private, is_web_public, is_archived, history_public)
        VALUES (${work.realmId}, ${Number(channel.stream_id)}, ${String(channel.name)}, ${channel.invite_only === true},
          ${channel.is_web_public === true}, ${channel.is_archived === true}, ${channel.history_public_to_subscribers === true})
        ON CONFLICT (realm_id, channel_id) DO UPDATE SET name = excluded.name, is_private = excluded.is_private,
          is_web_public = excluded.is_web_public, is_archived = excluded.is_archived, history_public = excluded.history_public`);
  if (op !== 'update') return;
  // The body also holds the name before the change, and a change of privacy carries the properties that follow from it.
  const { name: _, ...others } = body;
  const changes: Record<string, unknown> = { ...others, [String(body.property)]: body.value };
  for (const [property, column] of Object.entries(columnOf)) {
    const value = changes[property];
    if (value === undefined) continue;
    const written = property === 'name' ? sql.fragment`${String(value)}` : sql.fragment`${value === true}`;
    await work.run(sql.unsafe`
      UPDATE messaging.channel SET ${sql.identifier([column])} = ${written}
      WHERE realm_id = ${work.realmId} AND channel_id = ${Number(body.stream_id)}`);
  }
}

/** All channels of a realm, and how a reader stands to each; 0 for a reader without an account. */
export const channelCopies = (executor: Executor, realmId: number, userId = 0): Promise<ChannelCopy[]> =>
  executor.any(sql.type(channelCopyRow)`
    SELECT c.channel_id, c.name, c.is_private, c.is_web_public, c.is_archived, c.history_public, p.is_in
    FROM messaging.channel c LEFT JOIN (
      SELECT channel_id, bool_or(to_id IS NULL) AS is_in FROM messaging.subscription_period
      WHERE realm_id = ${realmId} AND user_id = ${userId} GROUP BY channel_id) p USING (channel_id)
    WHERE c.realm_id = ${realmId}`);
