const mebibyte = 1024 * 1024;

/** Limits of the API that clients are told by `POST /register` (specification, section 8), and identity of this server. */
export const limits = {
  messageLength: 10_000,
  topicLength: 60,
  channelNameLength: 60,
  channelDescriptionLength: 1024,
  /** Above so many new subscriptions in a request nobody gets a direct message about them. */
  bulkNewSubscriptionMessages: 250,
  fullNameLength: 100,
  reminderNoteLength: 1_000,
  welcomeTextLength: 8_000,
  passwordMinLength: 6,
  passwordMaxLength: 100,
  /** Keys that a person has at once: with one more the oldest ends. */
  apiKeysPerUser: 50,
  bodyBytes: 26 * mebibyte,
  /** What is larger travels on the bus in blocks of this size. */
  busBlockBytes: 256 * 1024,
} as const;

/**
 * How much one person, one realm or one message may accumulate: far above what real organizations have. `requireRoom` in
 * `libs/database` enforces each in the transaction that adds to it, and answers "Too many <what> (limit: <limit>)". Where what is stored
 * is long, `bytes` bounds the text of all of it together, because clients are sent the whole collection at once.
 */
export const totals = {
  // Of one person.
  alertWords: { what: 'alert words', limit: 1_000 },
  bots: { what: 'bots', limit: 500 },
  clientDevices: { what: 'devices', limit: 100 },
  deviceTokens: { what: 'device tokens', limit: 100 },
  drafts: { what: 'drafts', limit: 5_000, bytes: 4 * mebibyte },
  mutedUsers: { what: 'muted users', limit: 5_000 },
  navigationViews: { what: 'navigation views', limit: 500 },
  pushDevices: { what: 'push devices', limit: 100 },
  reminders: { what: 'reminders', limit: 1_000, bytes: 4 * mebibyte },
  savedSnippets: { what: 'saved snippets', limit: 1_000, bytes: 4 * mebibyte },
  scheduledMessages: { what: 'scheduled messages', limit: 1_000, bytes: 4 * mebibyte },
  topicPreferences: { what: 'topic preferences', limit: 50_000 },
  uploads: { what: 'uploaded files', limit: 50_000 },
  // Of one realm.
  channelFolders: { what: 'channel folders', limit: 1_000 },
  channels: { what: 'channels', limit: 50_000 },
  defaultChannelGroups: { what: 'groups of default channels', limit: 200 },
  emoji: { what: 'custom emoji', limit: 10_000 },
  groups: { what: 'user groups', limit: 10_000 },
  invitations: { what: 'open invitations', limit: 20_000 },
  linkifiers: { what: 'linkifiers', limit: 200 },
  playgrounds: { what: 'playgrounds', limit: 200 },
  profileFields: { what: 'custom profile fields', limit: 100 },
  realmDomains: { what: 'domains', limit: 500 },
  // Of one message.
  edits: { what: 'edits of a message', limit: 1_000, bytes: mebibyte },
  reactions: { what: 'reactions to a message', limit: 5_000 },
  submessages: { what: 'submessages of a message', limit: 10_000, bytes: mebibyte },
} as const;

/** Text of the messages of one answer, in bytes. Clients are told that there are more by `found_oldest` and `found_newest`. */
export const maxPageBytes = 8 * mebibyte;

/** Limits of a single request. */
export const perRequest = {
  /** Channels times people in one request to subscribe or unsubscribe. */
  subscriptions: 100_000,
  /** Channels that one request creates. */
  newChannels: 200,
  invitations: 200,
  /** Terms of a narrow. */
  narrowTerms: 100,
} as const;

export const featureLevel = 421;
export const serverVersion = '11.0-natter';
export const emptyTopicDisplayName = 'general chat';
/** How many ids a client sees per number of the log: one durable event and up to 31 ephemeral ones. */
export const idsPerNumber = 32;
