import { externalAccounts } from '@natter/contracts';

/** Fields that clients read but whose features are not built. Each is listed in docs/constant-fields.md. */
export const constantRealmFields = {
  realm_plan_type: 1,
  realm_push_notifications_enabled: false,
  realm_push_notifications_enabled_end_timestamp: null,
  realm_default_external_accounts: externalAccounts,
  realm_email_auth_enabled: true,
  realm_password_auth_enabled: true,
  realm_is_zephyr_mirror_realm: false,
  server_min_deactivated_realm_deletion_days: null,
  server_max_deactivated_realm_deletion_days: null,
  server_thumbnail_formats: [],
  server_generation: 1,
  development_environment: false,
  server_needs_upgrade: false,
  server_inline_image_preview: true,
  server_inline_url_embed_preview: true,
  server_avatar_changes_disabled: false,
  server_name_changes_disabled: false,
  server_can_summarize_topics: false,
  settings_send_digest_emails: false,
  zulip_plan_is_not_limited: true,
  upgrade_text_for_wide_organization_logo: '',
  server_report_message_types: [
    { key: 'spam', name: 'Spam' },
    { key: 'harassment', name: 'Harassment' },
    { key: 'inappropriate', name: 'Inappropriate content' },
    { key: 'norms', name: 'Violates community norms' },
    { key: 'other', name: 'Other reason' },
  ],
};
