/** Days of messages that the figure looks back on, and the least age of a channel that has one. */
export const trafficDays = 28;
const leastAgeDays = 7;

/**
 * The messages a week that a client shows of a channel: the average of the last four weeks, or of its life if it is younger,
 * with two significant digits; nothing for a channel of less than a week.
 */
export function weeklyTraffic(messages: number, ageDays: number): number | null {
  if (ageDays < leastAgeDays) return null;
  const average = Math.floor((messages * 7) / Math.min(ageDays, trafficDays));
  if (average === 0) return messages > 0 ? 1 : 0;
  return Number(average.toPrecision(2));
}
