/** Sizes of data and durations of measurements. `quick` is for trying the harness: its figures mean nothing. */
export interface Sizes {
  measureMs: number;
  warmupMs: number;
  users: number;
  channels: number;
  subscriptionsPerUser: number;
  messages: number;
  presenceUsers: number;
  /** Three sizes each; the last one is the scenario's own. */
  heldPolls: [number, number, number];
  registerRealms: [number, number, number];
  channelSizes: [number, number, number];
  realms: [number, number, number];
  subscribeUsers: number;
  createUsers: number;
  scheduled: number;
  idleScheduled: number;
  catchUp: { queues: number; entries: number };
  deliver: { perSecond: number; receivers: number };
  fanOutRounds: number;
  repeats: number;
  hostileMs: number;
  web: { people: number; channels: number; messages: number; dayMessages: number };
}

export const full: Sizes = {
  measureMs: 10_000,
  warmupMs: 4_000,
  users: 10_000,
  channels: 1_000,
  subscriptionsPerUser: 200,
  messages: 1_000_000,
  presenceUsers: 50_000,
  heldPolls: [1_000, 3_000, 10_000],
  registerRealms: [1_000, 3_000, 10_000],
  channelSizes: [10, 1_000, 10_000],
  realms: [1, 10, 100],
  subscribeUsers: 1_000,
  createUsers: 1_000,
  scheduled: 5_000,
  idleScheduled: 30,
  catchUp: { queues: 1_000, entries: 10_000 },
  deliver: { perSecond: 200, receivers: 100 },
  fanOutRounds: 5,
  repeats: 20,
  hostileMs: 300_000,
  web: { people: 10_000, channels: 1_000, messages: 100_000, dayMessages: 20_000 },
};

export const quick: Sizes = {
  measureMs: 1_200,
  warmupMs: 500,
  users: 120,
  channels: 20,
  subscriptionsPerUser: 10,
  messages: 2_000,
  presenceUsers: 150,
  heldPolls: [20, 50, 100],
  registerRealms: [30, 60, 120],
  channelSizes: [10, 40, 100],
  realms: [1, 2, 4],
  subscribeUsers: 50,
  createUsers: 20,
  scheduled: 60,
  idleScheduled: 3,
  catchUp: { queues: 20, entries: 400 },
  deliver: { perSecond: 50, receivers: 10 },
  fanOutRounds: 2,
  repeats: 3,
  hostileMs: 4_000,
  web: { people: 100, channels: 20, messages: 1_000, dayMessages: 200 },
};
