import type { messagingOperations, ParamsOf } from '@natter/contracts';

export type Params = ParamsOf<typeof messagingOperations.sendMessage> & {
  /** A bot's notice that a topic was resolved. */
  isResolution?: boolean;
  /** The user whose action a bot's notice reports. */
  readBy?: number;
};
