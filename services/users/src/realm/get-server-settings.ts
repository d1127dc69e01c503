import { emptyTopicDisplayName, featureLevel, serverVersion, userOperations } from '@natter/contracts';
import { type Handlers, handle, type Owner } from '@natter/service-kit';
import type { UsersConfig } from '../model/config.ts';
import { readRealm } from '../model/read-realm.ts';
import { readPictures } from '../model/realm-pictures.ts';

export function serverSettingsHandlers({ database }: Owner, config: UsersConfig): Handlers {
  return [
    handle(userOperations.getServerSettings, async ({ meta }) => {
      const { settings, url } = await readRealm(database, meta.realmId);
      const pictures = await readPictures(database, meta.realmId);
      return {
        authentication_methods,
        external_authentication_methods: [],
        zulip_version: serverVersion,
        service_version: serverVersion,
        zulip_merge_base: serverVersion,
        zulip_feature_level: featureLevel,
        service_feature_level: featureLevel,
        push_notifications_enabled: false,
        is_incompatible: meta.client === 'ZulipInvalid',
        email_auth_enabled: true,
        require_email_format_usernames: true,
        realm_uri: url,
        realm_url: url,
        realm_name: settings.name,
        realm_icon: `${url}${pictures.icon[0]}`,
        realm_description: settings.description,
        realm_web_public_access_enabled: settings.enable_spectator_access && config.WEB_PUBLIC_STREAMS_ENABLED,
        realm_empty_topic_display_name: emptyTopicDisplayName,
      };
    }),
  ];
}

/** Users log in with a password only. */
const authentication_methods = {
  password: true,
  email: true,
  dev: false,
  ldap: false,
  remoteuser: false,
  github: false,
  azuread: false,
  gitlab: false,
  google: false,
  apple: false,
  saml: false,
  'openid connect': false,
};
