import { defaultChannelOperations } from './channels/default-channels.ts';
import { channelFolderOperations } from './channels/folders.ts';
import { postingRulesOperations } from './channels/posting-rules.ts';
import { channelSettingsOperations } from './channels/settings.ts';
import { subscriptionOperations } from './channels/subscriptions.ts';

export { sendsNewSubscriptionMessages, topicsPolicies } from './channels/parameters.ts';
export type { PostingRules } from './channels/posting-rules.ts';
export { includeSubscribers, subscribersChoice } from './channels/subscriptions.ts';

/** The fetch types of a register that this service answers. */
export const channelsFetchTypes: readonly string[] = [
  'subscription',
  'stream',
  'default_streams',
  'default_stream_groups',
  'channel_folders',
];

export const channelOperations = {
  ...subscriptionOperations,
  ...channelSettingsOperations,
  ...defaultChannelOperations,
  ...channelFolderOperations,
  ...postingRulesOperations,
};
