import { PermissionFields } from './permission-field.tsx';
import { useSelected, useSession } from './session-context.tsx';

type Changes = Parameters<ReturnType<typeof useSession>['client']['updateRealm']>[0];

const sections = [
  {
    title: 'Joining',
    permissions: {
      can_invite_users_group: 'Invite people by mail',
      create_multiuse_invite_group: 'Make invitation links',
    },
  },
  {
    title: 'Channels',
    permissions: {
      can_create_public_channel_group: 'Create public channels',
      can_create_private_channel_group: 'Create private channels',
      can_create_web_public_channel_group: 'Create channels that need no account to read',
      can_add_subscribers_group: 'Subscribe others to channels',
      can_set_topics_policy_group: 'Set the rule of topics of channels that they administer',
      can_set_delete_message_policy_group: 'Set who deletes in channels that they administer',
    },
  },
  {
    title: 'Messages',
    permissions: {
      can_mention_many_users_group: 'Mention everybody in large channels',
      can_move_messages_between_topics_group: 'Move messages to other topics',
      can_move_messages_between_channels_group: 'Move messages to other channels',
      can_resolve_topics_group: 'Mark topics as resolved',
      can_delete_own_message_group: 'Delete own messages',
      can_delete_any_message_group: 'Delete messages of others',
      direct_message_initiator_group: 'Begin direct conversations',
      direct_message_permission_group: 'Take part in every direct conversation (one of them must)',
    },
  },
  {
    title: 'People, groups and bots',
    permissions: {
      can_access_all_users_group: 'See all people',
      can_create_groups: 'Create groups',
      can_manage_all_groups: 'Manage all groups',
      can_create_bots_group: 'Create bots of every kind',
      can_create_write_only_bots_group: 'Create bots that only send messages',
      can_add_custom_emoji_group: 'Add emoji',
    },
  },
] as const;

/** The permissions of the organization. */
export function Permissions() {
  const { client } = useSession();
  const values = useSelected(({ model }) => model.realm.permissions);
  return (
    <>
      <p className="faint">A change is saved at once. Administrators can change it back.</p>
      {sections.map(({ title, permissions }) => (
        <fieldset key={title} className="stack">
          <legend>{title}</legend>
          <PermissionFields
            level="realm"
            permissions={permissions}
            holdersOf={(name) => values[name]}
            onSave={(changes) => client.updateRealm(changes as Changes)}
          />
        </fieldset>
      ))}
    </>
  );
}
