import { createRealmPolicies, createUserVisibility } from '@natter/realm-policy';
import { commonConfig, openOwner, type Process, type Running } from '@natter/service-kit';
import { z } from 'zod';
import { startDailyCount } from './activity/daily-count.ts';
import { messagesConsumer } from './activity/messages-consumer.ts';
import { folderHandlers } from './channel-folders/channel-folders.ts';
import { archiveHandlers } from './channels/archive-channel.ts';
import { readHandlers } from './channels/channels.ts';
import { invitedChannelsHandlers } from './channels/check-invited-channels.ts';
import { createChannelHandlers } from './channels/create-channel.ts';
import { emailHandlers } from './channels/get-channel-email.ts';
import { groupUsesHandlers } from './channels/get-group-uses.ts';
import { knownNamesHandlers } from './channels/get-known-names.ts';
import { postingRulesHandlers } from './channels/get-posting-rules.ts';
import { updateChannelHandlers } from './channels/update-channel.ts';
import { createDefaultChannelsHandlers } from './default-channels/create-default-channels.ts';
import { defaultChannelHandlers } from './default-channels/default-channels.ts';
import type { Service } from './model/deciding.ts';
import { DirectoryCache } from './model/directory/read-directory.ts';
import { peopleConsumer } from './model/people-consumer.ts';
import { createNoteSeen } from './model/seen.ts';
import { snapshotHandlers } from './register/snapshot-channels.ts';
import { changeSubscriptionsHandlers } from './subscriptions/change-subscriptions.ts';
import { listSubscribersHandlers } from './subscriptions/list-subscribers.ts';
import { subscribeHandlers } from './subscriptions/subscribe.ts';
import { subscriptionHandlers } from './subscriptions/subscriptions.ts';
import { unsubscribeHandlers } from './subscriptions/unsubscribe.ts';
import { ownSettingsHandlers } from './subscriptions/update-subscriptions.ts';

export const channelsConfig = commonConfig.extend({
  WEB_PUBLIC_STREAMS_ENABLED: z
    .enum(['true', 'false'])
    .default('true')
    .describe('Whether realms of this server may have web-public channels'),
});
export type ChannelsConfig = z.output<typeof channelsConfig>;

/** Owns channels, subscriptions and channel permissions. */
export async function startChannels(process: Process<ChannelsConfig>): Promise<Running> {
  const owner = openOwner(process, 'channels');
  const service: Service = {
    owner,
    directories: new DirectoryCache(),
    policies: createRealmPolicies(process.bus),
    userVisibility: createUserVisibility(process.bus),
    bus: process.bus,
    noteSeen: createNoteSeen(owner.database),
    webPublicStreamsEnabled: process.config.WEB_PUBLIC_STREAMS_ENABLED === 'true',
  };
  peopleConsumer(owner, service.directories);
  messagesConsumer(service);
  const stopDailyCount = startDailyCount(service, process.log);
  await process.bus.serve('channels', [
    ...subscribeHandlers(service),
    ...createChannelHandlers(service),
    ...unsubscribeHandlers(service),
    ...changeSubscriptionsHandlers(service),
    ...ownSettingsHandlers(service),
    ...updateChannelHandlers(service),
    ...archiveHandlers(service),
    ...defaultChannelHandlers(service),
    ...createDefaultChannelsHandlers(service),
    ...folderHandlers(service),
    ...readHandlers(service),
    ...subscriptionHandlers(service),
    ...emailHandlers(service),
    ...postingRulesHandlers(service),
    ...groupUsesHandlers(service),
    ...knownNamesHandlers(service),
    ...invitedChannelsHandlers(service),
    ...listSubscribersHandlers(service),
    ...snapshotHandlers(service),
  ]);
  return {
    stop: () => owner.close(stopDailyCount),
  };
}
