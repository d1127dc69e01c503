import {
  commonConfig,
  createRealmPolicies,
  createSight,
  openOwner,
  type Process,
  type Running,
} from '@natter/service-kit';
import { z } from 'zod';
import { startDailyCount } from './activity/daily-count.ts';
import { messagesConsumer } from './activity/messages-consumer.ts';
import { createNoteSeen } from './activity/seen.ts';
import { archiveHandlers } from './channel/archive.ts';
import { updateChannelHandlers } from './channel/update.ts';
import type { Service } from './deciding.ts';
import { defaultChannelHandlers } from './default-channels/default-channels.ts';
import { peopleConsumer } from './directory/people-consumer.ts';
import { DirectoryCache } from './directory/read-directory.ts';
import { folderHandlers } from './folder/folders.ts';
import { readHandlers } from './read/channels.ts';
import { emailHandlers } from './read/email-address.ts';
import { groupUsesHandlers } from './read/group-uses.ts';
import { invitedChannelsHandlers } from './read/invited-channels.ts';
import { listSubscribersHandlers } from './read/list-subscribers.ts';
import { postingRulesHandlers } from './read/posting-rules.ts';
import { snapshotHandlers } from './read/snapshot.ts';
import { ownSettingsHandlers } from './subscription/own-settings.ts';
import { subscribeHandlers } from './subscription/subscribe.ts';
import { unsubscribeHandlers } from './subscription/unsubscribe.ts';

export const channelsConfig = commonConfig.extend({
  WEB_PUBLIC_STREAMS_ENABLED: z
    .enum(['true', 'false'])
    .default('true')
    .describe('Whether realms of this server may have channels that are open to the whole web'),
});
export type ChannelsConfig = z.output<typeof channelsConfig>;

/** Channels, who is subscribed to them, and who may do what there. */
export async function startChannels(process: Process<ChannelsConfig>): Promise<Running> {
  const owner = openOwner(process, 'channels');
  const service: Service = {
    owner,
    directories: new DirectoryCache(),
    policies: createRealmPolicies(process.bus),
    sight: createSight(process.bus),
    bus: process.bus,
    noteSeen: createNoteSeen(owner.database),
    webPublicStreamsEnabled: process.config.WEB_PUBLIC_STREAMS_ENABLED === 'true',
  };
  peopleConsumer(owner, service.directories);
  messagesConsumer(service);
  const dailyCount = startDailyCount(service, process.log);
  await process.bus.serve('channels', '1.0.0', [
    ...subscribeHandlers(service),
    ...unsubscribeHandlers(service),
    ...ownSettingsHandlers(service),
    ...updateChannelHandlers(service),
    ...archiveHandlers(service),
    ...defaultChannelHandlers(service),
    ...folderHandlers(service),
    ...readHandlers(service),
    ...emailHandlers(service),
    ...postingRulesHandlers(service),
    ...groupUsesHandlers(service),
    ...invitedChannelsHandlers(service),
    ...listSubscribersHandlers(service),
    ...snapshotHandlers(service),
  ]);
  return {
    stop: async () => {
      dailyCount.stop();
      await owner.close();
    },
  };
}
