import type { Operation } from '../operation.ts';
import { channelOperations } from './channels.ts';
import { eventQueueOperations } from './event-queue.ts';
import { messagingOperations } from './messaging.ts';
import { presenceOperations } from './presence.ts';
import { userOperations } from './users.ts';

export * from './channels.ts';
export * from './event-queue.ts';
export * from './messaging.ts';
export * from './presence.ts';
export * from './users.ts';

export const operations: readonly Operation[] = [
  ...Object.values(userOperations),
  ...Object.values(channelOperations),
  ...Object.values(messagingOperations),
  ...Object.values(presenceOperations),
  ...Object.values(eventQueueOperations),
] as unknown as readonly Operation[];
