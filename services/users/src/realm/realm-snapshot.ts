import {
  channelPermissions,
  emptyTopicDisplayName,
  gifRatings,
  groupPermissions,
  limits,
  realmPermissions,
  realmSettingNames,
  videoChatProviders,
} from '@natter/contracts';
import type { Executor } from '@natter/database';
import { normalized } from '@natter/permissions';
import { shownRealm } from '../model/announce-permissions.ts';
import type { UsersConfig } from '../model/config.ts';
import { inactiveAmong } from '../model/inactive.ts';
import { permissionMirrors, settingMirrors } from '../model/legacy-mirrors.ts';
import { type Realm, readRealm } from '../model/read-realm.ts';
import { emojiDataUrl, pictureKinds, readPictures } from '../model/realm-pictures.ts';
import type { SnapshotPart, SnapshotRequest } from '../model/snapshot-part.ts';
import { constantRealmFields } from './constant-realm-fields.ts';

/** The `realm` group of a register: settings of the realm and properties of the server. */
export function realmSnapshot(config: UsersConfig): SnapshotPart {
  const read = async (executor: Executor, { realmId }: SnapshotRequest) => {
    const stored = await readRealm(executor, realmId);
    const inactive = await inactiveAmong(executor, realmId, Object.values(stored.permissions));
    const realm = shownRealm(stored, inactive);
    return {
      ...prefixed(settingsOf(realm)),
      ...prefixed(permissionsOf(realm)),
      ...prefixed(settingMirrors(realm.settings)),
      ...prefixed(permissionMirrors(realm)),
      ...identityOf(realm),
      ...prefixed(await picturesOf(executor, realm)),
      ...serverFields,
      ...constantRealmFields,
      max_file_upload_size_mib: config.NATTER_MAX_UPLOAD_MIB,
      realm_upload_quota_mib: config.NATTER_UPLOAD_QUOTA_MIB,
      jitsi_server_url: realm.settings.jitsi_server_url ?? serverJitsiUrl,
      server_jitsi_server_url: serverJitsiUrl,
      server_web_public_streams_enabled: config.WEB_PUBLIC_STREAMS_ENABLED,
      server_emoji_data_url: emojiDataUrl(realm.url),
    };
  };
  return {
    types: ['realm'],
    read,
    // The welcome text is for users only.
    spectators: async (executor, request) => ({
      ...(await read(executor, request)),
      realm_welcome_message_custom_text: '',
    }),
  };
}

const serverJitsiUrl = 'https://meet.jit.si';

const prefixed = (values: Record<string, unknown>): Record<string, unknown> =>
  Object.fromEntries(Object.entries(values).map(([name, value]) => [`realm_${name}`, value]));

const settingsOf = (realm: Realm): Record<string, unknown> =>
  Object.fromEntries(realmSettingNames.map((name) => [name, realm.settings[name]]));

const permissionsOf = (realm: Realm): Record<string, unknown> =>
  Object.fromEntries(Object.entries(realm.permissions).map(([name, value]) => [name, normalized(value)]));

async function picturesOf(executor: Executor, realm: Realm): Promise<Record<string, string>> {
  const pictures = await readPictures(executor, realm.id);
  return Object.fromEntries(
    pictureKinds.flatMap((kind) => {
      const [path, source] = pictures[kind];
      return [
        [`${kind}_url`, `${realm.url}${path}`],
        [`${kind}_source`, source],
      ];
    }),
  );
}

function identityOf(realm: Realm): Record<string, unknown> {
  return {
    realm_url: realm.url,
    realm_uri: realm.url,
    realm_bot_domain: realm.host,
    realm_date_created: Math.floor(realm.createdAt.getTime() / 1000),
    realm_authentication_methods: { Email: { enabled: true, available: true } },
    realm_empty_topic_display_name: emptyTopicDisplayName,
  };
}

const serverFields = {
  giphy_rating_options: gifRatings,
  realm_available_video_chat_providers: videoChatProviders,
  server_supported_permission_settings: {
    realm: realmPermissions,
    stream: channelPermissions,
    group: groupPermissions,
  },
  max_stream_name_length: limits.channelNameLength,
  max_stream_description_length: limits.channelDescriptionLength,
  max_topic_length: limits.topicLength,
  max_message_length: limits.messageLength,
  max_channel_folder_name_length: 60,
  max_channel_folder_description_length: 1024,
  max_reminder_note_length: 1000,
  max_bulk_new_subscription_messages: limits.bulkNewSubscriptionMessages,
  max_avatar_file_size_mib: 5,
  max_icon_file_size_mib: 5,
  max_logo_file_size_mib: 5,
  password_min_length: limits.passwordMinLength,
  password_max_length: limits.passwordMaxLength,
  password_min_guesses: 0,
  event_queue_longpoll_timeout_seconds: 90,
  server_presence_ping_interval_seconds: 60,
  server_presence_offline_threshold_seconds: 200,
  server_typing_started_expiry_period_milliseconds: 45_000,
  server_typing_stopped_wait_period_milliseconds: 12_000,
  server_typing_started_wait_period_milliseconds: 30_000,
};
