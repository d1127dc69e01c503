const minuteOf = (ms: number): number => Math.floor(ms / 60_000);
const most = 10;

/**
 * Runs work whose requests must be counted in one minute by rate limits. Work that began in one minute and ended in
 * another is repeated, whatever its outcome.
 */
export async function withinOneMinute<R>(work: () => Promise<R>): Promise<R> {
  for (let attempt = 1; ; attempt++) {
    const before = minuteOf(Date.now());
    const isWhole = (): boolean => minuteOf(Date.now()) === before;
    try {
      const result = await work();
      if (isWhole() || attempt === most) return result;
    } catch (error) {
      if (isWhole() || attempt === most) throw error;
    }
  }
}
