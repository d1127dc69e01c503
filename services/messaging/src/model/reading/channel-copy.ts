import { type BodyOf, type LogEvent, maxId } from '@natter/contracts';
import { type Executor, sql, type Work } from '@natter/database';
import { z } from 'zod';
import { changeOfListed } from '../changed-mutes.ts';

const channelCopyRow = z.object({
  channel_id: z.number(),
  name: z.string(),
  is_private: z.boolean(),
  is_web_public: z.boolean(),
  is_archived: z.boolean(),
  history_public: z.boolean(),
});
export type ChannelCopy = z.infer<typeof channelCopyRow>;

/** New channels. A `stream/create` that only announces access to known ones is for clients only. */
export async function channelsAppeared(work: Work, { body }: LogEvent<'stream/create'>): Promise<void> {
  const rows = body.streams.map((channel) => [
    channel.stream_id,
    channel.name,
    channel.invite_only,
    channel.is_web_public,
    channel.is_archived,
    channel.history_public_to_subscribers,
  ]);
  await work.run(sql.unsafe`
    INSERT INTO messaging.channel AS c (realm_id, channel_id, name, is_private, is_web_public, is_archived, history_public)
    SELECT ${work.realmId}, r.* FROM ${sql.unnest(rows, ['int4', 'text', 'bool', 'bool', 'bool', 'bool'])} AS r (channel_id, name, is_private, is_web_public, is_archived, history_public)
    ON CONFLICT (realm_id, channel_id) DO UPDATE SET name = excluded.name, is_private = excluded.is_private,
      is_web_public = excluded.is_web_public, is_archived = excluded.is_archived, history_public = excluded.history_public
    WHERE (c.name, c.is_private, c.is_web_public, c.is_archived, c.history_public) IS DISTINCT FROM
      (excluded.name, excluded.is_private, excluded.is_web_public, excluded.is_archived, excluded.history_public)`);
}

export async function channelUpdated(work: Work, { body }: LogEvent<'stream/update'>): Promise<void> {
  const changes = changesOf(body);
  if (!changes) return;
  const set = sql.join(
    Object.entries(changes).map(([column, value]) => sql.fragment`${sql.identifier([column])} = ${value}`),
    sql.fragment`, `,
  );
  const write = () =>
    work.run(sql.unsafe`
      UPDATE messaging.channel SET ${set} WHERE realm_id = ${work.realmId} AND channel_id = ${body.stream_id}`);
  const before = await channelCopy(work, work.realmId, body.stream_id);
  if (listed.some((column) => changes[column] !== undefined && changes[column] !== before?.[column]))
    await changeOfListed(work, body.stream_id, write);
  else await write();
}

/** The columns on which lists of muted topics depend. */
const listed = ['name', 'is_private', 'is_web_public', 'is_archived'] as const;

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

const copyColumns = sql.fragment`c.channel_id, c.name, c.is_private, c.is_web_public, c.is_archived, c.history_public`;

export async function channelCopy(
  executor: Executor,
  realmId: number,
  channelId: number,
): Promise<ChannelCopy | undefined> {
  if (Math.abs(channelId) > maxId) return undefined;
  return executor.maybeOne(sql.type(channelCopyRow)`
    SELECT ${copyColumns} FROM messaging.channel c WHERE c.realm_id = ${realmId} AND c.channel_id = ${channelId}`);
}

/** Whether callers without an account may read the channel, if the realm lets them in. */
export const isOpenToSpectators = (channel: Pick<ChannelCopy, 'is_web_public' | 'is_archived'> | undefined): boolean =>
  channel?.is_web_public === true && !channel.is_archived;

/** The channel with a name, or with an id written as text. A channel in use precedes an archived one of the same name. */
export function channelNamed(executor: Executor, realmId: number, name: string): Promise<ChannelCopy | undefined> {
  const id = isId(name) ? Number(name) : 0;
  return executor.maybeOne(sql.type(channelCopyRow)`
    SELECT * FROM (
      SELECT ${copyColumns}, CASE WHEN c.is_archived THEN 1 ELSE 0 END AS rank
      FROM messaging.channel c WHERE c.realm_id = ${realmId} AND lower(c.name) = lower(${name})
      UNION ALL
      SELECT ${copyColumns}, 2 FROM messaging.channel c WHERE c.realm_id = ${realmId} AND c.channel_id = ${id}) found
    ORDER BY rank, channel_id LIMIT 1`);
}

/** Whether a text is the decimal form of an id, without leading zeros. */
const isId = (text: string): boolean => /^[1-9]\d{0,9}$/.test(text) && Number(text) <= maxId;
