import type { Presence } from './hot-state.ts';

/** A user without a post for this long is offline. */
export const offlineAfterSeconds = 200;
/** Clients show a user without activity for longer than this as idle, so the next activity is announced. */
export const announcedAfterSeconds = 130;

export const modern = ({ activeAt, connectedAt }: Presence): Record<string, unknown> => ({
  active_timestamp: activeAt,
  idle_timestamp: connectedAt,
});

/** The form for older clients, which has one status per client instead of separate active and idle times. */
export function legacy(presence: Presence, now: number): Record<string, Record<string, unknown>> {
  const aggregated = { client: 'website', ...statusOf(presence, now) };
  return { aggregated, website: { ...aggregated, pushable: false } };
}

export function statusOf({ activeAt, connectedAt }: Presence, now: number): { status: string; timestamp: number } {
  const isActive = activeAt > 0 && now - activeAt < offlineAfterSeconds;
  return { status: isActive ? 'active' : 'idle', timestamp: isActive ? activeAt : Math.max(activeAt, connectedAt) };
}
