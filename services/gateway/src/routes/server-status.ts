import {
  type Actor,
  isOutage,
  type RequestMeta,
  type ResultOf,
  refusalOf,
  type ServiceProgram,
  serverStatusOperations,
  servicePrograms,
} from '@natter/contracts';
import { type Bus, release, withDeadline } from '@natter/service-kit';

const { getServerStatus, countOnline, countQueues } = serverStatusOperations;
type Status = ResultOf<typeof getServerStatus>;

/** Answers with the state of all services, even if any of them is unavailable. */
export interface ServerStatus {
  /** `renew`: reads the actor again, because a cached role may be older than a demotion. */
  bytes(meta: RequestMeta, renew: () => Promise<Actor>): Promise<Uint8Array[]>;
}

/** How long the answers of services are cached, for requests of all organizations. */
const keepMs = 1_000;
const patienceMs = 1_500;

export function createServerStatus(bus: Pick<Bus, 'call' | 'ping'>): ServerStatus {
  let last: { services: Promise<Status['services']>; at: number } | undefined;

  function services(): Promise<Status['services']> {
    const now = performance.now();
    if (!last || now - last.at > keepMs) last = { services: Promise.all(servicePrograms.map(stateOf)), at: now };
    return last.services;
  }

  async function stateOf(name: ServiceProgram): Promise<Status['services'][number]> {
    const answered = await bus.ping(name);
    return {
      name,
      is_available: answered !== undefined,
      versions: answered?.versions ?? [],
      latency_ms: answered ? Math.round(answered.latencyMs * 10) / 10 : null,
    };
  }

  return {
    async bytes(meta, renew) {
      const [actor, all, online, queues] = await Promise.all([
        unlessAway(withDeadline(patienceMs, renew)),
        services(),
        unlessAway(bus.call(countOnline, {}, { meta })),
        unlessAway(bus.call(countQueues, {}, { meta })),
      ]);
      const refusal = actor && refusalOf(getServerStatus, actor);
      if (refusal) throw refusal;
      const status: Status = {
        server_version: release,
        services: all,
        people_online: online?.people_online ?? null,
        event_queues: queues?.event_queues ?? null,
      };
      return [Buffer.from(JSON.stringify(status))];
    },
  };
}

/** The answer of a service; undefined while it cannot be reached. */
async function unlessAway<R>(answer: Promise<R>): Promise<R | undefined> {
  try {
    return await answer;
  } catch (error) {
    if (isOutage(error)) return undefined;
    throw error;
  }
}
