import { type Executor, VersionsChanged } from '@natter/database';
import { type WaitingEvent, waitingEvents } from './waiting-events.ts';

/** A period of a subscription that begins or ends with an event that is not in the periods. */
export interface LatePeriod {
  user_id: number;
  channel_id: number;
  /** The event that begins it; null if it is the open period in the projection. */
  from_id: number | null;
  to_id: number | null;
}

/**
 * The late periods of these channels. With `applied`, those that begin or end after this event, which was the last one in the
 * periods as the caller read them. Otherwise, call it before the periods are read. Throws `VersionsChanged` if too many events
 * wait.
 */
export async function latePeriods(
  executor: Executor,
  realmId: number,
  channelIds: readonly number[],
  bounds: { applied: number } | { through: number },
): Promise<LatePeriod[]> {
  const isIn = ({ channels }: WaitingEvent): boolean => channels?.some((id) => channelIds.includes(id)) ?? false;
  const matters = { 'subscription/add': isIn, 'subscription/remove': isIn };
  const awaited = { consumer: 'periods', types: ['subscription'], matters, ...bounds };
  const waiting = await waitingEvents(executor, realmId, awaited);
  if (!waiting) throw new VersionsChanged(`subscribers of channels ${channelIds}`, 'row');
  return channelIds.flatMap((id) =>
    periodsIn(
      id,
      waiting.filter(({ channels }) => channels?.includes(id)),
    ),
  );
}

function periodsIn(channel_id: number, events: readonly WaitingEvent[]): LatePeriod[] {
  const periods: LatePeriod[] = [];
  const lastOf = new Map<number, LatePeriod>();
  for (const { number, name, users } of events)
    for (const user_id of users ?? []) {
      const isBegin = name === 'subscription/add';
      const last = lastOf.get(user_id);
      if (last?.to_id === null) {
        if (!isBegin) last.to_id = number;
      } else if (isBegin || !last) {
        const period = { user_id, channel_id, from_id: isBegin ? number : null, to_id: isBegin ? null : number };
        lastOf.set(user_id, period);
        periods.push(period);
      }
    }
  return periods;
}

/** A message, and the channel to which it was sent; null for a direct message. */
export interface SentMessage {
  id: number;
  sent_channel_id: number | null;
}

/** Users who received a message and are not in the periods, and users who did not, but whose period is still open there. */
export interface LateReceivers {
  added: readonly number[];
  gone: readonly number[];
}

/** Call it before the periods are read. Throws like `latePeriods`. */
export async function lateReceivers(
  executor: Executor,
  realmId: number,
  { id, sent_channel_id }: SentMessage,
): Promise<LateReceivers> {
  const late = sent_channel_id === null ? [] : await latePeriods(executor, realmId, [sent_channel_id], { through: id });
  return {
    added: late.filter(({ to_id }) => to_id === null).map(({ user_id }) => user_id),
    gone: late.filter(({ from_id }) => from_id === null).map(({ user_id }) => user_id),
  };
}
