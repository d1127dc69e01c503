import { ChatError, channelOperations, idSet, maxId } from '@natter/contracts';
import { readVersion, sql } from '@natter/database';
import { type Handlers, handle } from '@natter/service-kit';
import { subscribersOf } from '../model/channel-events.ts';
import { channelColumns, channelRow, namedActive } from '../model/channel-row.ts';
import type { Service } from '../model/deciding.ts';

export function postingRulesHandlers({ owner: { database }, directories }: Service): Handlers {
  return [
    handle(channelOperations.getPostingRules, async ({ meta }, { channel }) => {
      if (typeof channel === 'number' && Math.abs(channel) > maxId) throw unknownChannel(channel);
      const which =
        typeof channel === 'number'
          ? sql.fragment`c.realm_id = ${meta.realmId} AND c.id = ${channel}`
          : namedActive(meta.realmId, channel);
      const find = () =>
        database.maybeOne(sql.type(channelRow)`SELECT ${channelColumns} FROM channels.channel c WHERE ${which}`);
      const found = await find();
      if (!found) throw unknownChannel(channel);
      // The version is read first: data that is newer than its version is merely read once more.
      const version = await readVersion(database, meta.realmId, `channel:${found.id}`);
      const subscribers = (await subscribersOf(database, [found.id])).get(found.id) ?? new Set<number>();
      const row = await find();
      if (!row || row.id !== found.id) throw unknownChannel(channel);
      const directory = await directories.read(database, meta.realmId);
      return {
        channel_id: row.id,
        version,
        name: row.name,
        is_private: row.is_private,
        is_web_public: row.is_web_public,
        is_archived: row.is_archived,
        history_public: row.history_public,
        topics_policy: row.topics_policy,
        message_retention_days: row.message_retention_days,
        creator_id: row.creator_id,
        permissions: row.permissions,
        subscribers: idSet([...subscribers].filter((id) => directory.people.get(id)?.isActive ?? true)),
      };
    }),
  ];
}

const unknownChannel = (channel: number | string): ChatError =>
  typeof channel === 'number'
    ? new ChatError('STREAM_DOES_NOT_EXIST', `Channel with ID '${channel}' does not exist`, { stream_id: channel })
    : new ChatError('STREAM_DOES_NOT_EXIST', `Channel '${channel}' does not exist`, { stream: channel });
