import {
  type LogEvent,
  type RealmSettingValues,
  realmSettingDefaults,
  realmSettingNames,
  realmSettings,
} from '@natter/contracts';
import type { Work } from '@natter/database';
import type { Owner } from '@natter/service-kit';
import { lockRealm } from '../model/read-realm.ts';
import { emitDict, store } from './update-realm.ts';

const channelSettings = realmSettingNames.filter((name) => realmSettings[name].isChannel);

/** Settings of a realm name no archived channel: nothing can be sent there. */
export function archivedChannelsConsumer(owner: Owner): void {
  owner.consume({
    name: 'archived-channels',
    on: { 'stream/update': archived },
  });
}

async function archived(work: Work, { body }: LogEvent<'stream/update'>): Promise<void> {
  if (body.property !== 'is_archived' || !body.value) return;
  const { settings } = await lockRealm(work);
  const named = channelSettings.filter((name) => settings[name] === body.stream_id);
  if (named.length === 0) return;
  const none = Object.fromEntries(
    named.map((name) => [name, realmSettingDefaults[name]]),
  ) as Partial<RealmSettingValues>;
  await store(work, none, {});
  emitDict(work, none);
}
