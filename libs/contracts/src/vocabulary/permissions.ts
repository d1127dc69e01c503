import type { ChannelPermission, GroupPermission, RealmPermission } from '../model/permission-settings.ts';

/** Descriptions of the permissions in the whole organization. */
export const realmPermissionMeanings: Record<RealmPermission, string> = {
  create_multiuse_invite_group: 'The users who may create reusable invitation links.',
  can_access_all_users_group:
    'The users who may see all other users. Others see only users with whom they share a channel or a direct message.',
  can_add_custom_emoji_group: 'The users who may add custom emoji.',
  can_add_subscribers_group: 'The users who may subscribe others to channels.',
  can_create_bots_group: 'The users who may create bots of any type.',
  can_create_write_only_bots_group: 'The users who may create incoming webhook bots, which only send messages.',
  can_create_groups: 'The users who may create user groups.',
  can_create_private_channel_group: 'The users who may create private channels.',
  can_create_public_channel_group: 'The users who may create public channels.',
  can_create_web_public_channel_group: 'The users who may create channels that can be read without an account.',
  can_delete_any_message_group: 'The users who may delete every message that they can see.',
  can_delete_own_message_group:
    'The users who may delete messages that they or their bots sent, within the time limit.',
  can_invite_users_group: 'The users who may invite people by email.',
  can_manage_all_groups: 'The users who may manage every user group.',
  can_manage_billing_group: 'The users who may manage plans and billing.',
  can_mention_many_users_group: 'The users who may mention everyone in large channels and topics.',
  can_move_messages_between_channels_group: 'The users who may move messages to another channel.',
  can_move_messages_between_topics_group: 'The users who may move messages to another topic.',
  can_resolve_topics_group: 'The users who may mark topics as resolved.',
  can_set_delete_message_policy_group:
    'The users who may set who deletes messages in a channel that they administer. Administrators always may.',
  can_set_topics_policy_group:
    'The users who may set the topics policy of a channel that they administer. Administrators always may.',
  can_summarize_topics_group: 'The users who may have topics summarized.',
  direct_message_initiator_group: 'The users who may begin a direct message conversation.',
  direct_message_permission_group:
    'A direct message conversation must include at least one of these users, except with bots and with oneself.',
};

/** Descriptions of the permissions in one channel. */
export const channelPermissionMeanings: Record<ChannelPermission, string> = {
  can_add_subscribers_group: 'The users who may subscribe others to the channel.',
  can_administer_channel_group: 'The users who may administer the channel, as organization administrators always may.',
  can_delete_any_message_group: 'The users who may delete every message in the channel.',
  can_delete_own_message_group: 'The users who may delete their own messages in the channel.',
  can_move_messages_out_of_channel_group: 'The users who may move messages from the channel to another one.',
  can_move_messages_within_channel_group: 'The users who may move messages to another topic of the channel.',
  can_remove_subscribers_group: 'The users who may unsubscribe others, as organization administrators always may.',
  can_resolve_topics_group: 'The users who may mark topics of the channel as resolved.',
  can_send_message_group: 'The users who may send messages to the channel.',
  can_subscribe_group: 'The users who may subscribe themselves, even if the channel is private.',
};

/** Descriptions of the permissions over one group. */
export const groupPermissionMeanings: Record<GroupPermission, string> = {
  can_add_members_group: 'The users who may add members to the group.',
  can_manage_group: 'The users who may rename, change and deactivate the group.',
  can_join_group: 'The users who may add themselves to the group.',
  can_remove_members_group: 'The users who may remove members from the group.',
  can_leave_group: 'The users who may remove themselves from the group.',
  can_mention_group: 'The users who may mention the group.',
};
