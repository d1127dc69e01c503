/** The services of an image. Loaded on demand: a process contains the code of one service only. */
export const programs: Readonly<Record<string, () => Promise<unknown>>> = {
  gateway: () => import('../../../services/gateway/src/main.ts'),
  users: () => import('../../../services/users/src/main.ts'),
  channels: () => import('../../../services/channels/src/main.ts'),
  messaging: () => import('../../../services/messaging/src/main.ts'),
  scheduler: () => import('../../../services/messaging/src/scheduler.ts'),
  presence: () => import('../../../services/presence/src/main.ts'),
  'event-queue': () => import('../../../services/event-queue/src/main.ts'),
  canary: () => import('../../canary/src/main.ts'),
};
