const mebibyte = 1024 * 1024;

/** API limits that clients read from `POST /register`, and the identity of this server. */
export const limits = {
  messageLength: 10_000,
  topicLength: 60,
  channelNameLength: 60,
  channelDescriptionLength: 1024,
  /** If a request subscribes more users than this, or changes more members of a group, they get no direct messages about it. */
  bulkNewSubscriptionMessages: 250,
  fullNameLength: 100,
  playgroundNameLength: 50,
  reminderNoteLength: 1_000,
  welcomeTextLength: 8_000,
  passwordMinLength: 6,
  passwordMaxLength: 100,
  /** Maximum number of keys of a user: creating another one revokes the oldest of the client with the most keys. */
  apiKeysPerUser: 50,
  /** Maximum number of sessions of a user, in addition to API keys. A further login ends the oldest session. */
  sessionsPerUser: 20,
  bodyBytes: 26 * mebibyte,
  /** Larger messages travel on the bus in blocks of this size. */
  busBlockBytes: 256 * 1024,
} as const;

/**
 * How much one user, one realm or one message may accumulate: far above what real organizations have. `requireRoom` in
 * `libs/database` enforces each in the transaction that adds to it, and answers "Too many <what> (limit: <limit>)". For
 * long items, `bytes` limits their total text, because clients receive the whole collection at once; for channels and
 * groups it limits what their permissions name, for emoji their pictures.
 */
export const totals = {
  // Per user.
  /** The words of the user's bots count too: every send compares the words of all possible receivers. */
  alertWords: { what: 'alert words', limit: 1_000, bytes: mebibyte / 16 },
  bots: { what: 'bots', limit: 500 },
  /** Clients receive deactivated accounts too, and no account is ever deleted. */
  botAccounts: { what: 'bots, including deactivated ones', limit: 2_000 },
  botsPerDay: { what: 'bots within a day', limit: 500 },
  clientDevices: { what: 'devices', limit: 100 },
  deviceTokens: { what: 'device tokens', limit: 100 },
  drafts: { what: 'drafts', limit: 5_000, bytes: 4 * mebibyte },
  mutedUsers: { what: 'muted users', limit: 5_000 },
  navigationViews: { what: 'navigation views', limit: 500 },
  pushDevices: { what: 'push devices', limit: 100 },
  /** Reminders, scheduled messages and topic preferences of the user's bots count too. */
  reminders: { what: 'reminders', limit: 1_000, bytes: 4 * mebibyte },
  savedSnippets: { what: 'saved snippets', limit: 1_000, bytes: 4 * mebibyte },
  scheduledMessages: { what: 'scheduled messages', limit: 1_000, bytes: 4 * mebibyte },
  topicPreferences: { what: 'topic preferences', limit: 50_000, bytes: 4 * mebibyte },
  /** Finished ones too, until they expire after 24 hours. */
  resumableUploads: { what: 'resumable uploads within a day', limit: 5_000 },
  unfinishedUploads: { what: 'unfinished uploads', limit: 100 },
  uploads: { what: 'uploaded files', limit: 50_000 },
  // Per realm.
  channelFolders: { what: 'channel folders', limit: 1_000 },
  channels: { what: 'channels', limit: 50_000, bytes: 4 * mebibyte },
  /** Descriptions whose text and HTML together exceed 600 bytes: every register contains all descriptions. */
  channelDescriptions: { what: 'long descriptions of channels', limit: 6_000, bytes: 4 * mebibyte },
  defaultChannelGroups: { what: 'groups of default channels', limit: 200 },
  /** Messages show the pictures of removed emoji, so these count too. */
  emoji: { what: 'custom emoji', limit: 10_000, bytes: 256 * mebibyte, content: 'data' },
  groups: { what: 'user groups', limit: 10_000, bytes: 4 * mebibyte },
  /** Direct members and subgroups of all groups that are not the system's. */
  groupMembers: { what: 'members of user groups', limit: 500_000 },
  /** All open invitations, and those that were created in the last day even if they are closed. */
  invitations: { what: 'open or recent invitations', limit: 20_000 },
  /** Every look-up of a send, which realms share, returns all of them. */
  linkifiers: { what: 'linkifiers', limit: 200, bytes: mebibyte / 16 },
  playgrounds: { what: 'playgrounds', limit: 200 },
  profileFields: { what: 'custom profile fields', limit: 100 },
  realmDomains: { what: 'domains', limit: 500 },
  // Per message.
  /** Edits of the content; changes of the topic do not count. */
  edits: { what: 'edits of a message', limit: 1_000, bytes: mebibyte },
  reactions: { what: 'reactions to a message', limit: 5_000 },
  submessages: { what: 'submessages of a message', limit: 10_000, bytes: mebibyte },
} as const;

/** Size of the uploaded pictures of a person and the bots that they created. */
export const maxAvatarBytes = 64 * mebibyte;

/** How much bots may keep: one account, and a person with the bots that they created. */
export const botStorage = {
  entries: 10_000,
  bytes: 10_000_000,
  ofPerson: { entries: 100_000, bytes: 100_000_000 },
} as const;

/**
 * The part of a total of the realm that one member and their bots may take, where members add to it: channels and their
 * descriptions, emoji, groups and their members, and invitations; and of a total of a message, where others add reactions
 * and submessages. Administrators may take all of it, and authors all submessages of their messages.
 */
export const sharePerMember = 1 / 8;

/**
 * Total text of the messages in one answer, in bytes. `found_oldest` and `found_newest` tell clients that there are
 * more.
 */
export const maxPageBytes = 2 * mebibyte;

/**
 * Total size of the history of a message in one answer, in bytes: each version repeats the whole text. Of a longer history
 * it holds the newest versions and the original.
 */
export const maxHistoryBytes = 4 * mebibyte;

/** Limits of the list of a user's files. The newest files have up to 50 of their messages each, the others one. */
export const inAttachments = { messages: 20_000, bytes: 8 * mebibyte } as const;

/**
 * The largest answer of a service, in bytes; larger ones are refused. It is no bound to rely on: those of the operations
 * are far lower, and docs/security/answer-sizes.md lists them.
 */
export const maxAnswerBytes = 128 * mebibyte;

/**
 * Subscribers of all channels in one answer. Above it, channels with 250 and more are listed as under
 * `include_subscribers=partial`.
 */
export const maxListedSubscribers = 1_000_000;

/** Topics of a channel in one answer, the newest. */
export const maxTopics = 20_000;

/** Limits of the sections of a register whose entries name topics or participants, in bytes of these. */
export const inRegister = {
  /** Maximum of `unread_msgs`; `old_unreads_missing` is true if there are more. */
  unreadBytes: 8 * mebibyte,
  recentConversationsBytes: mebibyte,
  /** The newest. */
  starredMessages: 100_000,
} as const;

/** Limits of a single request. */
export const perRequest = {
  /** Channels times users in one request to subscribe or unsubscribe. */
  subscriptions: 100_000,
  /** Channels that one request creates. */
  newChannels: 200,
  /** Characters in the permissions of all channels that one request creates, as JSON. */
  newPermissions: mebibyte,
  /** Characters in all permissions of the organization after a change, as JSON: services and clients read them often. */
  realmPermissions: 128 * 1024,
  invitations: 200,
  /** People whom one direct message names: each of them gets all of their names and addresses with it. */
  recipients: 250,
  /** Files to which one message refers: the owner of each gets an event. */
  linkedFiles: 100,
  /** IDs of participants in the details of messages that become unread by one request. */
  participantsOfUnread: 50_000,
  /** Terms of a narrow. */
  narrowTerms: 100,
  /** UTF-16 units of all searches of a narrow. */
  searchLength: 1_000,
  /** Different phrases of all searches of a narrow: each is compared with the whole text of messages. */
  searchPhrases: 10,
  /** UTF-16 units of all operands of the narrow of an event queue: gateways hold them as long as the queue is polled. */
  queueNarrowLength: 2_000,
  /** UTF-16 units of all types of events of a queue; those that exist have a quarter. */
  queueTypesLength: 5_000,
} as const;

/** All bots of an owner together may send as many requests, and have as many event queues, as this number of users. */
export const usersPerBots = 5;

/** Limits of moves: each moved message is locked, written, and gets a row in its history. */
export const moves = {
  /** Messages that one request moves. A larger topic is moved in parts, from its end, with `change_later`. */
  perRequest: 50_000,
  /** Messages that a user moves in a minute; one request may exceed it, and the next ones wait. */
  perMinute: 10_000,
  /** Moves in the history of a message, beside `totals.edits`. A later one replaces the newest. */
  inHistory: 1_000,
} as const;

export const reports = {
  /** Reports to the moderators that a user and their bots send in an hour. */
  perHour: 10,
} as const;

export const featureLevel = 421;
export const serverVersion = '11.0-natter';
export const emptyTopicDisplayName = 'general chat';
/** Maximum number of client-visible ids per log number: one durable event and up to 31 ephemeral ones. */
export const idsPerNumber = 32;
