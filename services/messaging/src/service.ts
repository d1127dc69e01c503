import { type CommonConfig, openOwner, type Process, type Running } from '@natter/service-kit';
import { createChannelCache } from './channel-cache.ts';
import { createChannelReach } from './channel-reach.ts';
import { draftHandlers } from './drafts/drafts.ts';
import { peopleConsumer } from './people.ts';
import { personalSettingsConsumer } from './personal-settings-consumer.ts';
import { sendHandlers } from './send-message.ts';
import { snapshotHandlers } from './snapshot.ts';

/** Messages, and what hangs on them. */
export async function startMessaging(process: Process<CommonConfig>): Promise<Running> {
  const owner = openOwner(process, 'messaging');
  peopleConsumer(owner);
  personalSettingsConsumer(owner);
  const channels = createChannelCache(process.bus);
  const reach = createChannelReach(channels);
  await process.bus.serve('messaging', '1.0.0', [
    ...sendHandlers(owner, channels),
    ...draftHandlers(owner, reach),
    ...snapshotHandlers(owner),
  ]);
  return { stop: () => owner.close() };
}
