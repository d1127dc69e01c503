import { idsOf } from '@natter/contracts';
import type { Executor } from '@natter/database';
import { isCopied } from '../model/reading/channel-copy.ts';
import type { SnapshotFor } from '../model/snapshot-for.ts';
import { isWaiting, type WaitingEvent } from '../model/waiting-events.ts';

/**
 * Whether the log contains an event that concerns this user, and that the consumer `periods` has not applied. The periods
 * determine which messages a user has received, and the event of a message does not repeat this: without such a period,
 * messages that the user has already received would be missing in `unread_msgs` for the life of the queue.
 */
export const isBehindFor = (executor: Executor, { realmId, userId }: SnapshotFor): Promise<boolean> =>
  isWaiting(executor, realmId, { consumer: 'periods', types: ['stream', 'subscription', 'muted_users'] }, (event) =>
    concerns(event, userId),
  );

function concerns({ name, property, changed, audience }: WaitingEvent, userId: number): boolean {
  const reaches = audience === 'realm' || idsOf(audience.users).includes(userId);
  switch (name) {
    case 'subscription/add':
    case 'subscription/remove':
      return changed?.includes(userId) ?? false;
    case 'subscription/update':
      return reaches && property === 'is_muted';
    case 'stream/update':
      return reaches && isCopied(property);
    case 'stream/create':
    case 'muted_users':
      return reaches;
    default:
      return false;
  }
}
