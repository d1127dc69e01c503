/**
 * Runs a statement that changes at most `limit` rows until it changes fewer, or the process is stopping. A sweep in one
 * statement would never end if it needed more time than a statement may take: it would be cancelled each time, and each
 * time find more.
 */
export async function inBatches(
  limit: number,
  isStopped: () => boolean,
  changeSome: () => Promise<number>,
): Promise<void> {
  for (let changed = limit; changed >= limit && !isStopped(); ) changed = await changeSome();
}
