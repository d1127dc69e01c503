/** Number of days that the figure covers, and the minimum age of a channel that has one. */
export const trafficDays = 28;
const leastAgeDays = 7;

/**
 * The messages per week that clients show for a channel: the average of the last four weeks, or of its lifetime if it
 * is younger, with two significant digits; null for a channel younger than a week.
 */
export function weeklyTraffic(messages: number, ageDays: number): number | null {
  if (ageDays < leastAgeDays) return null;
  const average = Math.floor((messages * 7) / Math.min(ageDays, trafficDays));
  if (average === 0) return messages > 0 ? 1 : 0;
  return Number(average.toPrecision(2));
}
