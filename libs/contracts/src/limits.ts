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
  bodyBytes: 26 * 1024 * 1024,
  /** What is larger travels on the bus in blocks of this size. */
  busBlockBytes: 256 * 1024,
} as const;

export const featureLevel = 421;
export const serverVersion = '11.0-natter';
export const emptyTopicDisplayName = 'general chat';
/** How many ids a client sees per number of the log: one durable event and up to 31 ephemeral ones. */
export const idsPerNumber = 32;
