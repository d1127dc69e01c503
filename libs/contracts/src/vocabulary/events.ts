import { keysOf } from '../model/keys.ts';

/** Descriptions of the capabilities of clients. A capability is false unless the client declares it. */
const capabilities = {
  notification_settings_null: 'Whether the notification settings of a subscription may be null.',
  bulk_message_deletion: 'Whether one `delete_message` event may name several messages.',
  user_avatar_url_field_optional: 'Whether `avatar_url` of users may be left out.',
  stream_typing_notifications: 'Whether typing in channels is announced.',
  user_settings_object: 'Whether settings are announced by `user_settings` events instead of the two older events.',
  linkifier_url_template: 'Whether linkifiers are given with URL templates. If false, none are given.',
  user_list_incomplete: 'Whether users whom the caller may not know are left out instead of shown as unknown.',
  include_deactivated_groups: 'Whether deactivated groups are included.',
  archived_channels: 'Whether archived channels are included.',
  empty_topic_name: 'Whether the empty topic is given as the empty text. If false, its display name takes its place.',
  simplified_presence_events: 'Whether `presence` events have the modern format.',
  individual_emoji_changes: 'Whether each custom emoji is announced by itself instead of the list of all.',
};

/** The capabilities that a client may name in a register. */
export const capabilityNames = keysOf(capabilities);

/** Event queues, and the fields of events that occur nowhere else. */
export const eventMeanings = {
  ...capabilities,
  apply_markdown: 'Whether the content of messages is HTML. If false, it is Markdown.',
  event_types: 'The types of the events that the queue receives. By default all.',
  fetch_event_types: 'The types of the state that the answer contains. By default `event_types`.',
  all_public_streams: 'Whether the queue receives messages of all public channels, not only of subscribed ones.',
  client_capabilities: 'What the client understands, by name; a capability that is not named is false.',
  pronouns_field_type_supported: 'Whether the client knows custom profile fields with pronouns.',
  idle_queue_timeout:
    'After how many seconds without a poll the queue ends; `mobile` for the time of mobile applications. By default 600 seconds.',
  user_client: 'Deprecated: the name of the client; the User-Agent header names it.',
  last_event_id: 'The ID of the last event that the client has processed; -1 for none. Events up to it are forgotten.',
  dont_block: 'Whether the answer is given at once, even if there are no events.',
  events: 'The events after `last_event_id`, in order. A `heartbeat` is given if there were none for a while.',
  operator: 'The operator of the term, such as `channel`, `topic` or `is`.',
  operand: 'What the operator compares with.',
  negated: 'Whether messages match for which the term does not hold.',
  service_version: 'The version of the server.',
  service_feature_level: 'The feature level of the API.',
  zulip_version: 'The version of the server, under the name that existing clients read.',
  zulip_feature_level: 'The feature level of the API, under the name that existing clients read.',
  zulip_merge_base: 'The version of the server on which this one is based; the same as the version.',
  language_name: 'The name of the new language, if the language changed.',
  setting_name: 'The name of the setting that changed.',
  notification_name: 'The name of the setting that changed.',
  realm_emoji: 'All custom emoji, by ID.',
  realm_linkifiers: 'All linkifiers, in the order in which they are applied.',
  realm_filters: 'Always empty.',
  realm_playgrounds: 'All code playgrounds.',
  command: 'The command with its slash, such as `/ping` or `/dark`.',
};
