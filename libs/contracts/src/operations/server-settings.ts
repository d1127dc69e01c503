import { z } from 'zod';

/** The answer of `GET /server_settings`. */
export const serverSettings = {
  authentication_methods: z
    .record(z.string(), z.boolean())
    .describe('Whether users can log in by each method; `password` is the one that this server has.'),
  external_authentication_methods: z
    .array(z.unknown())
    .describe('Always empty: no login by other services is supported.'),
  zulip_version: z.string().describe('The version of the server, under the name that existing clients read.'),
  service_version: z.string().describe('The version of the server.'),
  zulip_merge_base: z.string().describe('The same version, for clients that look for it here.'),
  zulip_feature_level: z.int().describe('The feature level of the API, under the name that existing clients read.'),
  service_feature_level: z.int().describe('The feature level of the API.'),
  push_notifications_enabled: z.boolean().describe('Always false: no push notifications are sent.'),
  is_incompatible: z.boolean().describe('Whether the `User-Agent` names a client that is too old for the server.'),
  email_auth_enabled: z.boolean().describe('Always true: users log in with an email address and a password.'),
  require_email_format_usernames: z.boolean().describe('Always true: the name at the login is an email address.'),
  realm_uri: z.string().describe('Deprecated: the value of `realm_url`.'),
  realm_url: z.string().describe('The address of the organization.'),
  realm_name: z.string(),
  realm_icon: z.string().describe('The address of the icon of the organization.'),
  realm_description: z.string().describe('The description of the organization, in Markdown.'),
  realm_web_public_access_enabled: z
    .boolean()
    .describe('Whether people can read web-public channels without an account.'),
  realm_empty_topic_display_name: z.string().describe('The name that clients show for the topic without a name.'),
};
