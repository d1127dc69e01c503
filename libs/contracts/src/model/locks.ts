import { keysOf } from './keys.ts';
import { totals } from './limits.ts';

interface AdvisoryLock {
  /** Postgres has one number space for all services. The number of a removed lock is not reused. */
  number: number;
  /** The object whose id is the key. A lock of the whole database has no key. */
  key: 'database' | 'realm' | 'user' | 'channel';
  guards: string;
  /**
   * The only number that processes of the previous release lock. It is locked in shared mode too, so that both releases
   * exclude each other while they run side by side. Remove it in the release after the one that added it.
   */
  formerly?: number;
}

/** Numbers of the locks of `totals`. */
const numbersOfTotals = {
  alertWords: 7501,
  bots: 7502,
  clientDevices: 7503,
  deviceTokens: 7504,
  drafts: 7505,
  mutedUsers: 7506,
  navigationViews: 7507,
  pushDevices: 7508,
  reminders: 7509,
  savedSnippets: 7510,
  scheduledMessages: 7511,
  topicPreferences: 7512,
  uploads: 7513,
  channelFolders: 7514,
  channels: 7515,
  defaultChannelGroups: 7516,
  emoji: 7517,
  groups: 7518,
  invitations: 7519,
  linkifiers: 7520,
  playgrounds: 7521,
  profileFields: 7522,
  realmDomains: 7523,
  edits: 7524,
  reactions: 7525,
  submessages: 7526,
  unfinishedUploads: 7527,
  channelDescriptions: 7528,
  groupMembers: 7529,
  botAccounts: 7530,
  botsPerDay: 7531,
  resumableUploads: 7532,
} as const satisfies Record<keyof typeof totals, number>;
type Total = keyof typeof totals;

const locksOfTotals = Object.fromEntries(
  keysOf(totals).map((total) => [
    `total:${total}`,
    {
      number: numbersOfTotals[total],
      key: 'realm',
      guards: `units that bring ${totals[total].what} near their limit count one after the other`,
    },
  ]),
) as Record<`total:${Total}`, AdvisoryLock & { key: 'realm' }>;

/**
 * Every advisory lock. A transaction that takes several takes them in this order, to prevent deadlocks; `lock` of
 * libs/database takes them by name and checks the order.
 */
export const advisoryLocks = {
  migrations: { number: 7103, key: 'database', guards: 'one process migrates at a time' },
  partitions: { number: 7104, key: 'database', guards: 'one process creates partitions of the log at a time' },
  retention: { number: 7105, key: 'database', guards: 'one process drops partitions of the log at a time' },
  'gate:users': { number: 7401, key: 'realm', guards: 'versions that users bumps, for a unit that decides again' },
  'gate:channels': {
    number: 7402,
    key: 'realm',
    guards: 'versions that channels bumps, for a unit that decides again',
  },
  directory: { number: 7201, key: 'realm', guards: 'the copy of people by which channels decides audiences' },
  'channel-folders': { number: 7202, key: 'realm', guards: 'positions of channel folders' },
  linkifiers: { number: 7311, formerly: 7301, key: 'realm', guards: 'the order of announced lists of linkifiers' },
  playgrounds: { number: 7302, key: 'realm', guards: 'the order of announced lists of playgrounds' },
  'profile-fields': {
    number: 7304,
    key: 'realm',
    guards: 'profile fields while values are checked, and the order of announced lists of them',
  },
  drafts: { number: 7301, key: 'user', guards: 'no draft is stored while synchronization is switched off' },
  'bot-storage': { number: 7313, key: 'user', guards: 'the bots of a person store one after the other' },
  // In earlier releases it shared 7302 with playgrounds. Rows are locked and compared too, so a process that locks 7302
  // is harmless.
  'scheduled-delivery': { number: 7312, key: 'realm', guards: 'one scheduler delivers in a realm at a time' },
  'group-nesting': { number: 7303, key: 'realm', guards: 'groups do not come to contain each other' },
  ...locksOfTotals,
  'default-channels': {
    number: 7314,
    key: 'realm',
    guards: 'the order of announced lists of default channels and of groups of them',
  },
  emoji: { number: 7310, key: 'realm', guards: 'the order of announced lists of emoji' },
  flags: { number: 7305, key: 'user', guards: 'the order of events about flags' },
  'channel-begin': {
    number: 7307,
    key: 'channel',
    guards: 'a removal of messages sees what moves and removals before it left',
  },
  'muted-topics': { number: 7306, key: 'user', guards: 'the order of announced lists of muted topics' },
  // Triggers take it. The next release removes it with them.
  'copied-names': { number: 7315, key: 'user', guards: 'the copy of the name of a user, for the previous release' },
} as const satisfies Record<string, AdvisoryLock>;

export type LockName = keyof typeof advisoryLocks;
/** Locks in the order in which a transaction takes them. */
export const lockNames = keysOf(advisoryLocks);
export const lockOf = (name: LockName): AdvisoryLock => advisoryLocks[name];
