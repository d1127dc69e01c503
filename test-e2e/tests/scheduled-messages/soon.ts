/** A time in seconds of the epoch. */
export const soon = (seconds: number): number => Math.floor(Date.now() / 1000) + seconds;

/**
 * Makes requests for a time that comes soon. On a busy machine a request may arrive after that time and be refused; then
 * they are made again for a later time.
 */
export async function beforeDue<R>(request: (at: number) => Promise<R>, firstSeconds = 2): Promise<R> {
  for (let seconds = firstSeconds; ; seconds *= 2) {
    try {
      return await request(soon(seconds));
    } catch (error) {
      if (seconds > 60 || !String(error).includes('must be in the future')) throw error;
    }
  }
}
