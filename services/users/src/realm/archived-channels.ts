import { type LogEvent, partOf, realmSettingDefaults, realmSettingNames, realmSettings } from '@natter/contracts';
import { eventsAfter, sql, type Work } from '@natter/database';
import type { Owner } from '@natter/service-kit';
import { z } from 'zod';
import { emitDict } from '../model/announce-permissions.ts';
import { lockRealm } from '../model/read-realm.ts';
import { store } from './update-realm.ts';

const channelSettings = realmSettingNames.filter((name) => realmSettings[name].isChannel);

/** Settings of a realm name no archived channel: nothing can be sent there. */
export function archivedChannelsConsumer(owner: Owner): void {
  owner.consume({
    name: 'archived-channels',
    on: { 'stream/update': archived },
  });
}

async function archived(work: Work, { body }: LogEvent<'stream/update'>, number: number): Promise<void> {
  if (body.property !== 'is_archived' || !body.value) return;
  const { settings } = await lockRealm(work);
  const named = channelSettings.filter((name) => settings[name] === body.stream_id);
  if (named.length === 0 || (await isRestoredAfter(work, body.stream_id, number))) return;
  const none = partOf(realmSettingDefaults, named);
  await store(work, none, {});
  emitDict(work, none);
}

const restoredRow = z.object({ is_restored: z.boolean() });

/**
 * Whether the channel was unarchived after event `number`. The consumer applies the archiving late, so a setting may have
 * been changed to the unarchived channel meanwhile.
 */
async function isRestoredAfter(work: Work, channelId: number, number: number): Promise<boolean> {
  const { is_restored } = await work.one(sql.type(restoredRow)`
    SELECT EXISTS (SELECT FROM ${eventsAfter(work.realmId, number, ['stream'])} e
      WHERE e.event->>'op' = 'update' AND e.event->'body'->>'property' = 'is_archived' AND e.event->'body'->>'value' = 'false'
        AND (e.event->'body'->>'stream_id')::int = ${channelId}) AS is_restored`);
  return is_restored;
}
