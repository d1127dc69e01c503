import { mayChangeInRealm } from '../state/permissions.ts';
import { t } from '../text/text.ts';
import { PermissionFields } from './permission-field.tsx';
import { useSelected, useSession } from './session-context.tsx';

type Changes = Parameters<ReturnType<typeof useSession>['client']['updateRealm']>[0];

const sections = [
  {
    title: t('joining'),
    permissions: {
      can_invite_users_group: t('invitePeopleByMail'),
      create_multiuse_invite_group: t('makeInvitationLinks'),
    },
  },
  {
    title: t('channels'),
    permissions: {
      can_create_public_channel_group: t('createPublicChannels'),
      can_create_private_channel_group: t('createPrivateChannels'),
      can_create_web_public_channel_group: t('createChannelsThatNeedNoAccountTo'),
      can_add_subscribers_group: t('subscribeOthersToChannels'),
      can_set_topics_policy_group: t('setTheRuleOfTopicsOfChannels'),
      can_set_delete_message_policy_group: t('setWhoDeletesInChannelsThatThey'),
    },
  },
  {
    title: t('messages'),
    permissions: {
      can_mention_many_users_group: t('mentionEverybodyInLargeChannels'),
      can_move_messages_between_topics_group: t('moveMessagesToOtherTopics'),
      can_move_messages_between_channels_group: t('moveMessagesToOtherChannels'),
      can_resolve_topics_group: t('markTopicsAsResolved'),
      can_delete_own_message_group: t('deleteOwnMessages'),
      can_delete_any_message_group: t('deleteMessagesOfOthers'),
      direct_message_initiator_group: t('beginDirectConversations'),
      direct_message_permission_group: t('takePartInEveryDirectConversationOne'),
    },
  },
  {
    title: t('peopleGroupsAndBots'),
    permissions: {
      can_access_all_users_group: t('seeAllPeople'),
      can_create_groups: t('createGroups'),
      can_manage_all_groups: t('manageAllGroups'),
      can_create_bots_group: t('createBotsOfEveryKind'),
      can_create_write_only_bots_group: t('createBotsThatOnlySendMessages'),
      can_add_custom_emoji_group: t('addEmoji'),
    },
  },
] as const;

/** The permissions of the organization. */
export function Permissions() {
  const { client } = useSession();
  const model = useSelected((state) => state.model);
  return (
    <>
      <p className="faint">{t('aChangeIsSavedAtOnceAdministrators')}</p>
      {sections.map(({ title, permissions }) => (
        <fieldset key={title} className="stack">
          <legend>{title}</legend>
          <PermissionFields
            level="realm"
            permissions={permissions}
            holdersOf={(name) => model.realm.permissions[name]}
            mayChange={(name) => mayChangeInRealm(model, name)}
            onSave={(changes) => client.updateRealm(changes as Changes)}
          />
        </fieldset>
      ))}
    </>
  );
}
