import { isRefusal } from '@natter/contracts';

/**
 * Decides with possibly outdated data, unless an earlier attempt failed. Outdated data may accept, because the commit compares
 * its versions, but a refusal from it is decided again with `fresh` data. Outages and bugs are not repeated.
 */
export async function decideOnCurrent<R>(
  { attempt }: { attempt: number },
  decide: (fresh: boolean) => Promise<R>,
): Promise<R> {
  if (attempt > 0) return decide(true);
  try {
    return await decide(false);
  } catch (error) {
    if (!isRefusal(error)) throw error;
  }
  return decide(true);
}
