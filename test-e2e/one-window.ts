const most = 5;

/**
 * Runs work whose requests must be counted in one window by rate limits. Windows of a minute begin at another second for
 * each caller, so one may end during the work: work that fails is repeated.
 */
export async function withinOneWindow<R>(work: () => Promise<R>): Promise<R> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await work();
    } catch (error) {
      if (attempt === most) throw error;
    }
  }
}
