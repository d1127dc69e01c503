import { ChatError, defaultRealmUrl, isOutage, type RequestMeta, userOperations } from '@natter/contracts';
import { apartFromRequest, type Bus, Counts, createLocalCounts, untilDeadline, wideNetwork } from '@natter/service-kit';
import { LRUCache } from 'lru-cache';
import { type Rate, rateLimitHit } from '../rate-limit/rate-limit.ts';

const freshMs = 2_000;
const usableMs = 60_000;
/** Results of realms are used for this long while users is unavailable. */
const usableInOutageMs = 3_600_000;
/** How long a request waits for a refresh of the result of a realm. */
const refreshWaitMs = 1_000;
const maxEntries = 10_000;
/** Calls to users per second and gateway for hosts that no realm has, in addition to the first ones of each network. */
const maxUnknownPerSecond = 50;
/** Calls for hosts of one network that are permitted although the limit per second is reached. */
const firstOfNetwork = 3;
/** Calls at a time for hosts of which nothing is known. */
const maxAtOnce = 200;
/** Requests for hosts of which nothing is known that wait for a call, for example right after the start. */
const maxWaiting = 1_000;

export interface FoundRealm {
  realmId: number;
  /** The configured origin, only for services of the previous release, which read it from the request. */
  realmUrl: string;
}

interface Entry {
  /** The default realm for a host that no realm has, or the error if there is no default realm. */
  result: FoundRealm | ChatError;
  at: number;
}

/**
 * Finds the realm of a host. Results are refreshed after two seconds, so that new and renamed realms are noticed. While the
 * users service is unavailable, results for hosts of realms are used for an hour and others for a minute, and requests do not
 * wait for the refresh.
 *
 * Only a call to users shows whether an unknown host belongs to a new realm. These calls are limited by network and per second.
 * Results for unknown hosts are cached apart, so they do not evict hosts of realms. Above the limit per second, these results
 * are refreshed after a minute, and a host without a result is looked up only for networks that sent few unknown hosts. So a
 * flood of unknown hosts does not hide realms from other networks.
 */
export function createRealmFinder(
  bus: Bus,
  missRate: Rate,
  now: () => number = () => performance.now(),
): (host: string, meta: RequestMeta) => Promise<FoundRealm> {
  const misses = createLocalCounts();
  let second = { number: 0, unknown: 0 };
  const known = new LRUCache<string, Entry>({ max: maxEntries });
  const unknown = new LRUCache<string, Entry>({ max: maxEntries });
  const asking = new Map<string, Promise<FoundRealm>>();
  const pending = createPending();
  /** The last call to users was not answered, or not within `refreshWaitMs`. */
  let isAway = false;

  /** Requests for the host share the call, so it belongs to none of them. */
  const ask = (host: string, meta: RequestMeta): Promise<FoundRealm> => apartFromRequest(() => askUsers(host, meta));

  async function askUsers(host: string, meta: RequestMeta): Promise<FoundRealm> {
    try {
      const answer = await bus.call(userOperations.findRealm, { host }, { meta });
      isAway = false;
      const { realm_id: realmId, realm_url } = answer;
      const found = { realmId, realmUrl: realm_url ?? (await urlByPolicy({ ...meta, realmId })) };
      if (answer.host === undefined || answer.host === host) {
        unknown.delete(host);
        known.set(host, { result: found, at: now() });
      } else miss(host, found, meta);
      return found;
    } catch (error) {
      isAway = isOutage(error);
      const usable = isAway && usableInOutage(host);
      if (usable) return realmOf(usable);
      if (error instanceof ChatError && error.code === 'NONEXISTENT_SUBDOMAIN') miss(host, error, meta);
      throw error;
    }
  }

  function usableInOutage(host: string): Entry | undefined {
    const realm = known.get(host);
    if (realm && now() - realm.at < usableInOutageMs) return realm;
    const other = unknown.get(host);
    return other && now() - other.at < usableMs ? other : undefined;
  }

  /** The result of a refresh, or the last one if users does not answer. */
  async function refreshed(host: string, refresh: Promise<FoundRealm>): Promise<FoundRealm> {
    const last = usableInOutage(host);
    if (!last) return refresh;
    refresh.catch(() => undefined);
    if (isAway) return realmOf(last);
    // While users answers, only its answer shows whether a realm has the host now.
    if (!known.has(host)) return refresh;
    let timer: NodeJS.Timeout | undefined;
    const waited = new Promise<void>((resolve) => {
      timer = setTimeout(resolve, refreshWaitMs);
    });
    const outcome = await Promise.race([refresh, waited]).finally(() => clearTimeout(timer));
    if (outcome) return outcome;
    isAway = true;
    return realmOf(last);
  }

  function miss(host: string, result: FoundRealm | ChatError, meta: RequestMeta): void {
    thisSecond().unknown++;
    if (!unknown.has(host)) misses.add(networkOf(meta), 1, missRate.windowSeconds);
    known.delete(host);
    unknown.set(host, { result, at: now() });
  }

  /** A users service of the previous release returns no URL. */
  async function urlByPolicy(meta: RequestMeta): Promise<string> {
    const policy = await bus.call(userOperations.getRealmPolicy, {}, { meta });
    return defaultRealmUrl(policy.host);
  }

  function thisSecond(): { unknown: number } {
    const number = Math.floor(now() / 1_000);
    if (second.number !== number) second = { number, unknown: 0 };
    return second;
  }

  const refused = (resetInSeconds: number): ChatError => rateLimitHit({ resetInSeconds });

  return async function find(host, meta): Promise<FoundRealm> {
    const last = known.get(host) ?? unknown.get(host);
    const isFlooded = thisSecond().unknown >= maxUnknownPerSecond && !known.has(host);
    if (last && now() - last.at < (isFlooded ? usableMs : freshMs)) return realmOf(last);
    const network = networkOf(meta);
    const isQuiet = misses.get(network) + pending.of(network) < firstOfNetwork;
    if (!last && misses.get(network) >= missRate.limit) throw refused(misses.left(network));
    if (!last && isFlooded && !isQuiet) throw refused(1);
    const running = asking.get(host);
    if (running || last) return refreshed(host, running ? untilDeadline(running) : begin(host, ask(host, meta)));
    // Any call in progress may turn out to be for an unknown host. If all would exceed a limit, one has to end first.
    const isFull =
      pending.all >= maxAtOnce ||
      (pending.all + thisSecond().unknown >= maxUnknownPerSecond && !isQuiet) ||
      pending.of(network) + misses.get(network) >= missRate.limit;
    if (!isFull) return begin(host, pending.count(network, ask(host, meta)));
    if (pending.waiting >= maxWaiting) throw refused(1);
    await pending.oneEnded();
    return find(host, meta);
  };

  function begin(host: string, call: Promise<FoundRealm>): Promise<FoundRealm> {
    const running = call.finally(() => asking.delete(host));
    asking.set(host, running);
    return untilDeadline(running);
  }
}

/** The wide network, because a client can choose among the networks in it. */
const networkOf = ({ network }: RequestMeta): string => wideNetwork(network ?? '');

/** The calls in progress for hosts of which nothing is known, by network. */
function createPending() {
  const byNetwork = new Counts<string>();
  let [all, waiting] = [0, 0];
  let listeners: (() => void)[] = [];
  return {
    get all() {
      return all;
    },
    /** Number of requests that wait for the end of a call. */
    get waiting() {
      return waiting;
    },
    of: (network: string) => byNetwork.of(network),
    async count<R>(network: string, call: Promise<R>): Promise<R> {
      all++;
      byNetwork.add(network);
      try {
        return await call;
      } finally {
        all--;
        byNetwork.add(network, -1);
        const ended = listeners;
        listeners = [];
        for (const listener of ended) listener();
      }
    },
    async oneEnded(): Promise<void> {
      waiting++;
      await new Promise<void>((resolve) => listeners.push(resolve));
      waiting--;
    },
  };
}

function realmOf({ result }: Entry): FoundRealm {
  if (result instanceof ChatError) throw result;
  return result;
}
