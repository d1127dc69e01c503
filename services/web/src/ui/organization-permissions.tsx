import { PermissionField } from './permission-field.tsx';
import { useSelected, useSession } from './session-context.tsx';

type Changes = Parameters<ReturnType<typeof useSession>['client']['updateRealm']>[0];

const sections = [
  {
    title: 'Joining',
    permissions: [
      { name: 'can_invite_users_group', label: 'Invite people by mail' },
      { name: 'create_multiuse_invite_group', label: 'Make invitation links' },
    ],
  },
  {
    title: 'Channels',
    permissions: [
      { name: 'can_create_public_channel_group', label: 'Create public channels' },
      { name: 'can_create_private_channel_group', label: 'Create private channels' },
      { name: 'can_create_web_public_channel_group', label: 'Create channels that need no account to read' },
      { name: 'can_add_subscribers_group', label: 'Subscribe others to channels' },
      { name: 'can_set_topics_policy_group', label: 'Set the rule of topics of channels that they administer' },
      { name: 'can_set_delete_message_policy_group', label: 'Set who deletes in channels that they administer' },
    ],
  },
  {
    title: 'Messages',
    permissions: [
      { name: 'can_mention_many_users_group', label: 'Mention everybody in large channels' },
      { name: 'can_move_messages_between_topics_group', label: 'Move messages to other topics' },
      { name: 'can_move_messages_between_channels_group', label: 'Move messages to other channels' },
      { name: 'can_resolve_topics_group', label: 'Mark topics as resolved' },
      { name: 'can_delete_own_message_group', label: 'Delete own messages' },
      { name: 'can_delete_any_message_group', label: 'Delete messages of others' },
      { name: 'direct_message_initiator_group', label: 'Begin direct conversations' },
      { name: 'direct_message_permission_group', label: 'Take part in every direct conversation (one of them must)' },
    ],
  },
  {
    title: 'People, groups and bots',
    permissions: [
      { name: 'can_access_all_users_group', label: 'See all people' },
      { name: 'can_create_groups', label: 'Create groups' },
      { name: 'can_manage_all_groups', label: 'Manage all groups' },
      { name: 'can_create_bots_group', label: 'Create bots of every kind' },
      { name: 'can_create_write_only_bots_group', label: 'Create bots that only send messages' },
      { name: 'can_add_custom_emoji_group', label: 'Add emoji' },
    ],
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
          {permissions.map((permission) => {
            const value = values[permission.name];
            return value === undefined ? null : (
              <PermissionField
                key={permission.name}
                level="realm"
                permission={permission}
                value={value}
                onSave={(change) => client.updateRealm({ [permission.name]: change as unknown } as Changes)}
              />
            );
          })}
        </fieldset>
      ))}
    </>
  );
}
