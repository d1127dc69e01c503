import type { Executor } from '@natter/database';
import type { SnapshotFor } from '../model/snapshot-for.ts';
import { type Awaited, isWaiting, reaches } from '../model/waiting-events.ts';

const isChanged: Awaited['concerns'][string] = ({ changed }, userId) => changed?.includes(userId) ?? false;

/** The events that change which messages a user has received or sees as unread. */
const periods: Awaited = {
  consumer: 'periods',
  types: ['stream', 'subscription', 'muted_users'],
  concerns: {
    'subscription/add': isChanged,
    'subscription/remove': isChanged,
    'subscription/update/is_muted': reaches,
    'stream/update/is_archived': reaches,
    muted_users: reaches,
  },
};

/**
 * Whether such an event is not applied here. No later event makes up for it: messages that the user has already received would
 * be missing in `unread_msgs` for the life of the queue.
 */
export const isBehindFor = (executor: Executor, whom: SnapshotFor): Promise<boolean> =>
  isWaiting(executor, whom, periods);
