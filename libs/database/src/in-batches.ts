/**
 * Runs a statement that changes at most `limit` rows until it changes fewer. A sweep in one statement would never end
 * if it needed more time than a statement may take: it would be cancelled each time, and each time find more.
 */
export async function inBatches(limit: number, changeSome: () => Promise<number>): Promise<void> {
  for (let changed = limit; changed >= limit; ) changed = await changeSome();
}
