import { ChatError, channelOperations, idSet } from '@natter/contracts';
import { sql } from '@natter/database';
import { type Handlers, handle, type Owner } from '@natter/service-kit';
import { z } from 'zod';
import { channelColumns, channelRow } from './channel-row.ts';

export function postingRulesHandlers({ database }: Owner): Handlers {
  return [
    handle(channelOperations.getPostingRules, async ({ meta }, { channel }) => {
      const which =
        typeof channel === 'number'
          ? sql.fragment`c.id = ${channel}`
          : sql.fragment`lower(c.name) = lower(${channel}) AND NOT c.is_archived`;
      const find = () =>
        database.maybeOne(
          sql.type(
            channelRow,
          )`SELECT ${channelColumns} FROM channels.channel c WHERE c.realm_id = ${meta.realmId} AND ${which}`,
        );
      const found = await find();
      if (!found) throw unknownChannel(channel);
      // The version first: a copy newer than its version is only fetched once more.
      const { version } = await database.one(sql.type(z.object({ version: z.number() }))`
        SELECT version FROM log.versions(${meta.realmId}, ${sql.array([`channel:${found.id}`], 'text')})`);
      const subscribers = await database.any(sql.type(z.object({ user_id: z.number() }))`
        SELECT s.user_id FROM channels.subscription s LEFT JOIN channels.person p ON p.realm_id = s.realm_id AND p.user_id = s.user_id
        WHERE s.channel_id = ${found.id} AND s.is_active AND coalesce(p.is_active, true)`);
      const row = await find();
      if (!row) throw unknownChannel(channel);
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
        subscribers: idSet(subscribers.map(({ user_id }) => user_id)),
      };
    }),
  ];
}

const unknownChannel = (channel: number | string): ChatError =>
  typeof channel === 'number'
    ? new ChatError('STREAM_DOES_NOT_EXIST', `Channel with ID '${channel}' does not exist`, { stream_id: channel })
    : new ChatError('STREAM_DOES_NOT_EXIST', `Channel '${channel}' does not exist`, { stream: channel });
