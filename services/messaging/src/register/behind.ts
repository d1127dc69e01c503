import type { Executor } from '@natter/database';
import type { SnapshotFor } from '../model/snapshot-for.ts';
import { type Awaited, isWaiting, reaches } from '../model/waiting-events.ts';

type Matters = Awaited['matters'][string];

/**
 * Whether an event is not applied here yet that changes the received or the unread messages of the user. No later event
 * corrects a register without it: received messages would be missing in `unread_msgs` for the life of the queue.
 */
export function isBehindFor(executor: Executor, { realmId, userId }: SnapshotFor): Promise<boolean> {
  const isChanged: Matters = ({ users }) => users?.includes(userId) ?? false;
  const isReached: Matters = (event) => reaches(event, userId);
  return isWaiting(executor, realmId, {
    consumer: 'periods',
    types: ['stream', 'subscription', 'muted_users'],
    matters: {
      'subscription/add': isChanged,
      'subscription/remove': isChanged,
      'subscription/update/is_muted': isReached,
      'stream/update/is_archived': isReached,
      muted_users: isReached,
    },
  });
}
