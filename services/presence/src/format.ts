import type { Presence } from './hot-state.ts';

/** Without a sign for so long a user is away. */
export const offlineAfterSeconds = 200;

export const modern = ({ activeAt, connectedAt }: Presence): Record<string, unknown> => ({
  active_timestamp: activeAt,
  idle_timestamp: connectedAt,
});

/** The form before clients were told of idle and active apart (specification 2.8). */
export function legacy(presence: Presence, now: number): Record<string, Record<string, unknown>> {
  const aggregated = { client: 'website', ...statusOf(presence, now) };
  return { aggregated, website: { ...aggregated, pushable: false } };
}

export function statusOf({ activeAt, connectedAt }: Presence, now: number): { status: string; timestamp: number } {
  const isActive = activeAt > 0 && now - activeAt < offlineAfterSeconds;
  return { status: isActive ? 'active' : 'idle', timestamp: isActive ? activeAt : Math.max(activeAt, connectedAt) };
}
