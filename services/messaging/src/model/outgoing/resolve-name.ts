import { type LookupAddress, promises } from 'node:dns';

/** Looks up all addresses of a name. Ends early if the signal is aborted. */
export type Resolve = (name: string, signal: AbortSignal) => Promise<LookupAddress[]>;

/** Whether a name server answered that the name has no address. Any other failure may pass. */
export const hasNoAddress = (error: unknown): boolean =>
  error instanceof Error && 'code' in error && (error.code === 'ENOTFOUND' || error.code === 'ENODATA');

const dnsTimeoutMs = 2_000;
const tries = 2;

/**
 * Asks the name servers of the machine, or these. Unlike `dns.lookup` this uses no thread of the process, of which there
 * are few, so slow name servers of users delay no other look-up, and an aborted look-up ends.
 */
export const askNameServers =
  (servers?: readonly string[]): Resolve =>
  async (name, signal) => {
    signal.throwIfAborted();
    const resolver = new promises.Resolver({ timeout: dnsTimeoutMs, tries });
    if (servers) resolver.setServers(servers);
    const cancel = (): void => resolver.cancel();
    signal.addEventListener('abort', cancel, { once: true });
    try {
      const [v4, v6] = await Promise.allSettled([resolver.resolve4(name), resolver.resolve6(name)]);
      signal.throwIfAborted();
      if (v4.status === 'rejected' && v6.status === 'rejected') throw hasNoAddress(v4.reason) ? v6.reason : v4.reason;
      const found = (result: typeof v4, family: number): LookupAddress[] =>
        result.status === 'fulfilled' ? result.value.map((address) => ({ address, family })) : [];
      return [...found(v4, 4), ...found(v6, 6)];
    } finally {
      signal.removeEventListener('abort', cancel);
    }
  };

/**
 * Asks the name servers, then the operating system, which also knows names of `/etc/hosts`, of search domains and of
 * mDNS. Its look-ups cannot be cancelled, so one is under way at a time.
 */
export function askAlsoSystem(
  askServers: Resolve = askNameServers(),
  askSystem: (name: string) => Promise<LookupAddress[]> = (name) => promises.lookup(name, { all: true }),
): Resolve {
  let last: Promise<unknown> = Promise.resolve();

  return async (name, signal) => {
    try {
      return await askServers(name, signal);
    } catch {
      signal.throwIfAborted();
    }
    const { promise: aborted, reject } = Promise.withResolvers<never>();
    const abort = (): void => reject(signal.reason);
    signal.addEventListener('abort', abort, { once: true });
    const found = last.then(() => {
      signal.throwIfAborted();
      return askSystem(name);
    });
    last = found.catch(() => undefined);
    return Promise.race([found, aborted]).finally(() => signal.removeEventListener('abort', abort));
  };
}
